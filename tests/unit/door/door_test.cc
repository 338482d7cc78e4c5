#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "sabath/sabath.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

nlohmann::json taken(char* text) {
  auto value = text == nullptr ? nlohmann::json() : nlohmann::json::parse(text);
  sabath_free(text);
  return value;
}

// The error of a call on a new store; the test fails where there is none.
nlohmann::json error_of(const char* verb, const nlohmann::json& request) {
  const test::TempDir home;
  const nlohmann::json settings{{"store", (home.path() / "store").string()}};
  char* error = nullptr;
  sabath_session* session = sabath_open(settings.dump().c_str(), &error);
  EXPECT_NE(session, nullptr) << taken(error);
  EXPECT_TRUE(taken(sabath_call(session, "init", "{}", &error)).is_object()) << taken(error);
  EXPECT_EQ(sabath_call(session, verb, request.dump().c_str(), &error), nullptr);
  sabath_close(session);
  const auto failed = taken(error);
  return failed.is_object() ? failed.at("error") : failed;
}

TEST(DoorWording, FailuresNameKeysAndVerbs) {
  const auto low = error_of("gc", {{"low", 10}});
  EXPECT_EQ(low["message"], "\"low\" says how far to go when \"max_size\" is exceeded");
  EXPECT_EQ(low["hint"], "give \"max_size\" as well");
  EXPECT_EQ(error_of("fetch", nlohmann::json::object())["hint"], "e.g. `fetch cosmoflow`; `list` shows what there is");
  EXPECT_EQ(error_of("verify", {{"names", {"no-such-asset"}}})["kind"], "not_found");
}

TEST(DoorWording, SettingsAreNamedAsKeys) {
  const auto refused = [](const char* settings) {
    char* error = nullptr;
    EXPECT_EQ(sabath_open(settings, &error), nullptr);
    return taken(error)["error"]["message"].get<std::string>();
  };
  EXPECT_EQ(refused(R"({"deadline": "soon"})"), "\"deadline\" soon is neither a time nor a span of time");
  EXPECT_EQ(refused(R"({"store": ":"})"), "settings:1: \"store\" names no directory");
}

}  // namespace
}  // namespace sabath
