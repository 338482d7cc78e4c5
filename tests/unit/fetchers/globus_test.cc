// Answers of Globus's API as text: tasks, listings, refusals with a remedy; and the requests to it.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "globus/words.h"
#include "kind_of.h"

namespace sabath {
namespace {

using namespace globus;

constexpr const char* id = "0b226e2c-4de0-11ea-971a-021304b0cca7";

TEST(Globus, Places) {
  const Place place = parse_place(Url::parse(std::string("globus://") + id + "/~/a%20b/%C3%BC"));
  EXPECT_EQ(place.collection, id);
  EXPECT_EQ(place.path, "/~/a b/ü");
  for (const std::string& url :
       {std::string("globus://x/y"), "globus://" + std::string(36, '0') + "/y", std::string("globus://") + id,
        std::string("globus://") + id + "/a%0Ab", std::string("globus://") + id + ":80/y"}) {
    EXPECT_EQ(kind_of([&] { static_cast<void>(parse_place(Url::parse(url))); }), FailureKind::unavailable) << url;
  }
}

TEST(Globus, Servers) {
  const auto server = [](const std::string& text) {
    return parse_https_server("{\"https_server\":" + text + "}", "x");
  };
  EXPECT_EQ(server("null"), std::nullopt);
  EXPECT_EQ(server("\"https://g-1.a.data.globus.org\"")->origin(), "https://g-1.a.data.globus.org");
  EXPECT_EQ(server("\"g-1.a.data.globus.org\"")->origin(), "https://g-1.a.data.globus.org");
  for (const char* text : {"\"http://a.example\"", "\"file:///etc\"", "\"https://a b\"", "\"https://u:p@a.example\""})
    EXPECT_EQ(kind_of([&] { static_cast<void>(server(text)); }), FailureKind::invalid) << text;
}

TEST(Globus, Tasks) {
  using State = Task::State;
  EXPECT_EQ(parse_task(R"({"status":"ACTIVE","bytes_transferred":7,"files_transferred":1})", "x").progress, 8u);
  EXPECT_EQ(parse_task(R"({"status":"INACTIVE"})", "x").state, State::inactive);
  EXPECT_EQ(parse_task(R"({"status":"SUCCEEDED"})", "x").state, State::succeeded);
  const Task failed =
      parse_task(R"({"status":"FAILED","fatal_error":{"code":"QUOTA_EXCEEDED","description":"d"}})", "x");
  EXPECT_EQ(failure_of(failed, id, "w").kind, FailureKind::space);
  EXPECT_TRUE(is_hopeless(parse_task(R"({"status":"ACTIVE","nice_status":"PERMISSION_DENIED"})", "x")));
  EXPECT_FALSE(is_hopeless(parse_task(R"({"status":"ACTIVE","nice_status":"CONNECTION_FAILED"})", "x")));
  for (const char* text : {R"({"status":"HAPPY"})", "{}", "[]", "", R"({"status":"ACTIVE","bytes_transferred":-1})"})
    EXPECT_EQ(kind_of([&] { static_cast<void>(parse_task(text, "x")); }), FailureKind::invalid) << text;
}

TEST(Globus, Refusals) {
  const std::string scope =
      "urn:globus:auth:scope:transfer.api.globus.org:all[*https://auth.globus.org/scopes/x/data_access]";
  const Failure consent =
      refusal(403, R"({"code":"ConsentRequired","message":"Missing","required_scopes":[")" + scope + "\"]}", "w",
              "https://api");
  EXPECT_EQ(consent.kind, FailureKind::access);
  EXPECT_NE(consent.hint.find("globus session consent '" + scope + "'"), std::string::npos) << consent.hint;
  // What is pasted into a shell is a scope and nothing else.
  const Failure hostile = refusal(
      403, R"({"code":"ConsentRequired","message":"m","required_scopes":["'; touch X; '"]})", "w", "https://api");
  EXPECT_EQ(hostile.hint.find("touch"), std::string::npos) << hostile.hint;
  const std::tuple<int, const char*, FailureKind> cases[] = {
      {401, R"({"code":"AuthenticationFailed","message":"m"})", FailureKind::access},
      {403, R"({"code":"PermissionDenied","message":"m"})", FailureKind::access},
      {403, R"({"code":"x","authorization_parameters":{"session_required_mfa":true}})", FailureKind::access},
      {404, R"({"code":"EndpointNotFound","message":"m"})", FailureKind::unavailable},
      {502, R"({"code":"ExternalError.DirListingFailed.PermissionDenied","message":"m"})", FailureKind::access},
      {502, R"({"code":"ExternalError.DirListingFailed","message":"m"})", FailureKind::network},
      {400, "not JSON", FailureKind::unavailable},
  };
  for (const auto& [status, body, kind] : cases)
    EXPECT_EQ(refusal(status, body, "w", "https://api").kind, kind) << body;
}

TEST(Globus, TheSameDeliveryIsToldInTheSameWords) {
  const Delivery delivery{{id, "/a"}, {id, "/b"}, id};
  EXPECT_EQ(transfer_document(delivery), transfer_document(delivery));
}

}  // namespace
}  // namespace sabath
