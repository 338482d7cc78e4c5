// http and https against nginx: connections, logins, TLS, and a log that agrees with what was counted.

#include <gtest/gtest.h>

#include <set>

#include "reading.h"
#include "support/fault_server.h"
#include "support/nginx.h"
#include "support/seeded.h"
#include "support/temp_dir.h"

namespace sabath::test {
namespace {

class HttpServer : public testing::Test {
 protected:
  void SetUp() override {
    if (!Nginx::available()) GTEST_SKIP() << "nginx is not installed";
  }
  static std::unique_ptr<FetcherSet> fetchers(const std::string& ca_file = {}) {
    return make_fetchers({.user_agent = "sabath-test", .ca_file = ca_file});
  }
  TempDir root;
};

TEST_F(HttpServer, TheLogAgreesWithTheTraffic) {
  write_seeded_file(root / "a", 1, 5'000'000);
  write_seeded_file(root / "b.txt", 2, 10);
  write_file(root / "empty", "");
  Nginx server({.root = root.path(), .redirects = {{"/moved", "/a"}}, .denied = "/denied"});
  const auto set = fetchers();
  std::uint64_t requests = 0, bytes = 0;
  const auto count = [&](const Reading& reading) {
    requests += reading.requests;
    bytes += reading.traffic_bytes;
  };
  for (const char* path : {"/a", "/b.txt", "/empty", "/moved", "/absent", "/denied/x"})
    count(read(*set, server.url(path)));
  for (std::uint64_t at = 0; at < 5'000'000; at += 1'000'000) {
    count(read(*set, server.url("/a"), {.offset = at, .length = 1'000'000}));
  }
  count(read(*set, server.url("/a"), {.offset = 5'000'000}));
  const auto log = server.log(requests);
  EXPECT_EQ(log.size(), requests);
  EXPECT_EQ(body_bytes(log), bytes);
  std::set<std::uint64_t> connections;
  for (const LoggedRequest& request : log) connections.insert(request.connection);
  EXPECT_EQ(connections.size(), 1u) << "errors, redirects and ranges must not cost the connection";
}

TEST_F(HttpServer, LoginsAndLocksAreAccess) {
  write_file(root / "f", "x");
  Nginx server({.root = root.path(), .denied = "/denied", .login = "/login"});
  const auto set = fetchers();
  for (const char* path : {"/denied/f", "/login/f"}) {
    const Reading reading = read(*set, server.url(path));
    EXPECT_EQ(reading.kind(), FailureKind::access) << reading.message();
    EXPECT_NE(reading.failure->hint, "");
  }
}

TEST_F(HttpServer, AChangedFileAnswersShortly) {
  write_seeded_file(root / "f", 1, 3'000'000);
  Nginx server({.root = root.path()});
  const auto set = fetchers();
  const Validators begun = read(*set, server.url("/f"), {.length = 0}).info.validators;
  write_seeded_file(root / "f", 2, 4'000'000);
  for (const Validators& expected : {begun, Validators{"", "Sun, 06 Nov 1994 08:49:37 GMT"}}) {
    const Reading reading = read(*set, server.url("/f"), {.offset = 10, .expected = expected});
    EXPECT_EQ(reading.kind(), FailureKind::changed) << reading.message();
    EXPECT_LT(reading.traffic_bytes, 1000u) << "412 instead of the new body";
  }
}

TEST_F(HttpServer, CertificatesAreChecked) {
  write_file(root / "f", "x");
  Nginx right({.root = root.path(), .tls_name = "localhost"});
  Nginx other({.root = root.path(), .tls_name = "other.example"});
  EXPECT_EQ(read(*fetchers(right.ca_file()), right.url("/f")).bytes, "x");
  const Reading unknown = read(*fetchers(), right.url("/f"));
  EXPECT_EQ(unknown.kind(), FailureKind::unavailable) << unknown.message();
  EXPECT_EQ(unknown.requests, 0u);
  const Reading mismatch = read(*fetchers(other.ca_file()), other.url("/f"));
  EXPECT_EQ(mismatch.kind(), FailureKind::unavailable) << mismatch.message();
  EXPECT_NE(mismatch.message().find("name"), std::string::npos) << mismatch.message();
  const Reading no_bundle = read(*fetchers(root / "absent.pem"), right.url("/f"));
  EXPECT_EQ(no_bundle.kind(), FailureKind::unavailable) << no_bundle.message();
  const std::string plain = "https" + FaultServer().url("/ok").substr(4);
  EXPECT_TRUE(read(*fetchers(), plain).failure.has_value());
}

TEST_F(HttpServer, NeverFromHttpsToHttp) {
  write_file(root / "f", "x");
  Nginx plain({.root = root.path()});
  Nginx secure(
      {.root = root.path(), .tls_name = "localhost", .redirects = {{"/down", plain.url("/f")}, {"/same", "/f"}}});
  Nginx upwards({.root = root.path(), .redirects = {{"/up", secure.url("/f")}}});
  const auto set = fetchers(secure.ca_file());
  const Reading down = read(*set, secure.url("/down"));
  EXPECT_EQ(down.kind(), FailureKind::unavailable) << down.message();
  EXPECT_EQ(plain.log(0).size(), 0u);
  EXPECT_EQ(read(*set, secure.url("/same")).bytes, "x");
  const Reading up = read(*set, upwards.url("/up"));
  EXPECT_EQ(up.bytes, "x") << up.message();
  EXPECT_EQ(up.info.final_url, secure.url("/f"));
}

TEST_F(HttpServer, ARestartedServerIsFoundAgain) {
  write_file(root / "f", "x");
  const auto set = fetchers();
  auto server = std::make_unique<Nginx>(NginxOptions{.root = root.path(), .extra = "keepalive_timeout 1ms;"});
  EXPECT_EQ(read(*set, server->url("/f")).bytes, "x");
  ASSERT_EQ(server->log(1).size(), 1u);
  EXPECT_EQ(read(*set, server->url("/f")).bytes, "x");  // the kept connection is dead by now, or dies under us
}

}  // namespace
}  // namespace sabath::test
