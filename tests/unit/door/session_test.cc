// The settings that open a session of the C interface, and its report of them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "sabath/sabath.h"
#include "support/seeded.h"
#include "support/temp_dir.h"

namespace sabath::test {
namespace {

using Json = nlohmann::json;
using Opened = std::unique_ptr<sabath_session, decltype(&sabath_close)>;

Json taken(char* text) {
  const Json told = text == nullptr ? Json() : Json::parse(text);
  sabath_free(text);
  return told;
}

class Door : public ::testing::Test {
 protected:
  // Not the settings of who runs this test.
  Door() {
    ::setenv("HOME", home.path().c_str(), 1);
    ::setenv("SABATH_CACHE", "/of/the/environment", 1);
    for (const char* name : {"XDG_CONFIG_HOME", "SABATH_CONFIG", "SABATH_RECIPES", "SABATH_ROOT"}) ::unsetenv(name);
  }
  Opened open(const Json& settings) {
    char* error = nullptr;
    Opened session(sabath_open(settings.dump().c_str(), &error), sabath_close);
    EXPECT_NE(session, nullptr) << error;
    sabath_free(error);
    return session;
  }
  Json refusal(const std::string& settings) {
    char* error = nullptr;
    const Opened session(sabath_open(settings.c_str(), &error), sabath_close);
    EXPECT_EQ(session, nullptr) << settings;
    return taken(error);
  }
  Json call(const Opened& session, const char* verb, const Json& request) {
    char* error = nullptr;
    char* record = sabath_call(session.get(), verb, request.dump().c_str(), &error);
    EXPECT_NE(record, nullptr) << error;
    sabath_free(error);
    return taken(record);
  }
  TempDir home;
};

TEST_F(Door, TellsWhatItWasOpenedWith) {
  ::setenv("SABATH_OFFLINE", "1", 1);
  ::setenv("AWS_REGION", "of-the-environment", 1);
  const std::string config = home / "config.json";
  write_file(config, R"({"lanes": 7, "limit_rate": "1M", "stall_timeout_s": 5})");
  const Opened session = open({{"config", config},
                               {"store", (home / "$store").string()},
                               {"recipes", {(home / "recipes").string()}},
                               {"lanes", 3},
                               {"offline", false},
                               {"s3_region", "here"},
                               {"rewrites", {{{"from", "https://a/"}, {"to", "https://b/"}}}},
                               {"hosts", {{{"host", "data.lab"}, {"connections", 2}}}},
                               {"deadline", "2h"}});
  ::unsetenv("SABATH_OFFLINE");
  ::unsetenv("AWS_REGION");
  const Json told = call(session, "config", Json::object());
  const auto expect = [&](const char* key, const Json& value, const std::string& origin) {
    EXPECT_EQ(told["settings"][key]["value"], value) << key;
    EXPECT_EQ(told["settings"][key]["origin"], origin) << key;
  };
  expect("store", (home / "$store").string(), "settings");
  expect("lanes", "3", "settings");
  expect("offline", "false", "settings");
  expect("s3_region", "here", "settings");
  expect("rewrites", {"https://a/=https://b/"}, "settings");
  expect("deadline", "2h", "settings");
  expect("config", config, "settings");
  expect("limit_rate", "1000000", config);
  expect("stall_timeout_s", "5", config);
  EXPECT_EQ(told["settings"]["recipes"]["value"][0], (home / "recipes").string());
  EXPECT_EQ(told["settings"]["hosts"]["value"].size(), 1U);
  EXPECT_EQ(call(session, "config", {{"store", "/other"}})["settings"]["store"]["value"], "/other")
      << "what other sources would give";
}

TEST_F(Door, ADeadlineCountsForWhatItDoes) {
  std::filesystem::create_directories(home / "recipes/datasets");
  write_file(home / "recipes/datasets/one.json",
             R"({"schema": 1, "kind": "dataset", "name": "one", "version": "1", "fragments": [
                 {"id": "f", "type": "file", "path": "f", "urls": ["http://127.0.0.1:9/f"], "size": 5}]})");
  const Opened session =
      open({{"store", (home / "store").string()}, {"recipes", {(home / "recipes").string()}}, {"deadline", "2h"}});
  const Json plan = call(session, "plan", {{"names", {"one"}}});
  ASSERT_TRUE(plan["walltime_left_s"].is_number()) << plan;
  EXPECT_GT(plan["walltime_left_s"], 0);
  EXPECT_LE(plan["walltime_left_s"], 7200);
}

TEST_F(Door, RefusesSettingsThatMakeNoSense) {
  for (const char* settings :
       {"", "[]", R"({"stroe": "/x"})", R"({"lanes": 5000})", R"({"lanes": -1})", R"({"offline": "yes"})",
        R"({"deadline": "soon"})", R"({"rewrites": [{"from": "https://a/"}]})", R"({"hosts": [{"host": "a/b"}]})",
        R"({"store": "/a", "stores": ["/b"]})", R"({"config": "/no/such/file"})", R"({"hash_kernel": 4})"}) {
    const Json told = refusal(settings);
    EXPECT_EQ(told["error"]["kind"], "usage") << settings << " " << told;
    EXPECT_EQ(told["exit"], 2) << settings;
  }
}

}  // namespace
}  // namespace sabath::test
