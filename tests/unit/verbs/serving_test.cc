#include "sabath/verbs/serve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <thread>

#include "ask.h"
#include "site.h"
#include "verbs/verb.h"

namespace sabath::test {
namespace {

class Serve : public ::testing::Test {
 protected:
  Serve() {
    site.dataset("clouds", {with_checksum(file_fragment("f", "a.bin", {site.serve("a", "abc")}), "abc")});
    EXPECT_EQ(site.fetch("clouds").exit, 0);
  }
  Site site;
  Session session = site.open();
  NoEvents unheard;
};

TEST_F(Serve, GivesWhatItHoldsUntilItIsStopped) {
  std::promise<Serving> started;
  std::string lines;
  ServeRequest request;
  request.listen = "127.0.0.1:0";
  request.on_start = [&](const Serving& serving) { started.set_value(serving); };
  request.on_requests = [&](std::string_view text) { lines += text; };
  std::stop_source stop;
  auto served = std::async(std::launch::async, [&] { return serve(session, request, unheard, stop.get_token()); });
  const Serving serving = started.get_future().get();
  EXPECT_FALSE(serving.by_token);
  EXPECT_EQ(serving.store, site.settings.store);

  Site other;
  other.dataset("clouds", {with_checksum(file_fragment("f", "a.bin", {serving.url}), "abc")});
  EXPECT_EQ(other.fetch("clouds").exit, 0);
  stop.request_stop();
  const ServeRecord record = served.get();
  EXPECT_EQ(record.url, serving.url);
  EXPECT_GE(record.requests, 1U);
  EXPECT_GE(record.bytes, 3U);
  EXPECT_TRUE(record.drained);
  EXPECT_EQ(static_cast<std::uint64_t>(std::ranges::count(lines, '\n')), record.requests);
}

TEST_F(Serve, IsAskedForByItsName) {
  const auto found = std::ranges::find(library_verbs(), "serve", &LibraryVerb::name);
  ASSERT_NE(found, library_verbs().end());
  const JsonValue value = parse_json(R"({"listen": "[::1]:0", "grace": 1, "limit_rate": "1M", "connections": 3})", "r");
  JsonObject request(value, "r", "the request", FailureKind::usage);
  std::stop_source stop;
  stop.request_stop();
  struct Heard final : EventSink {
    void on(const Event& event) override {
      started = std::get<event::ServeStarted>(event);
      text = to_json(event);
    }
    event::ServeStarted started;
    std::string text;
  } heard;
  const Json told = found->call(session, request, heard, stop.get_token());
  EXPECT_TRUE(told["url"].get<std::string>().starts_with("sabath://[::1]:"));
  EXPECT_EQ(heard.started.url, told["url"].get<std::string>());
  EXPECT_EQ(heard.started.host, "::1");
  EXPECT_EQ(heard.started.url, "sabath://[::1]:" + std::to_string(heard.started.port));
  EXPECT_EQ(heard.started.store, site.settings.store.string());
  EXPECT_EQ(Json::parse(heard.text)["port"], heard.started.port);
  ServeRecord same{.url = told["url"], .store = site.settings.store};
  EXPECT_EQ(to_json(same), told.dump());
}

TEST_F(Serve, RefusesWhatMakesNoSense) {
  const Site::Json all[] = {{{"listen", "here"}},      {{"listen", "0.0.0.0:0"}},        {{"grace", 100'000}},
                            {{"connections", 10'001}}, {{"tls_cert", site / "nothing"}}, {{"token", site / "nothing"}},
                            {{"tokens", "x"}}};
  for (const Site::Json& wrong : all) EXPECT_EQ(refusal(session, "serve", wrong).kind, FailureKind::usage) << wrong;
  std::ofstream(site / "token") << "open to all";
  std::filesystem::permissions(site / "token", std::filesystem::perms(0644));
  EXPECT_EQ(refusal(session, "serve", {{"token", site / "token"}}).kind, FailureKind::access);
  Site empty;
  Session storeless = empty.open();
  EXPECT_EQ(refusal(storeless, "serve", Site::Json::object()).kind, FailureKind::usage);
}

}  // namespace
}  // namespace sabath::test
