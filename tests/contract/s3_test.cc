// Promises of s3 alone, against a server that verifies each signature: names that are hard to sign, keys that are
// wrong, regions that are learnt. nginx stands in where the words of an answer matter.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>

#include "reading.h"
#include "support/fault_server.h"
#include "support/nginx.h"
#include "support/seeded.h"
#include "support/swift.h"
#include "support/temp_dir.h"

namespace sabath::test {
namespace {

FetcherSettings settings_for(const std::string& endpoint, const std::string& id = "", const std::string& secret = "") {
  FetcherSettings settings{.user_agent = "sabath-test", .ca_file = {}, .stall_timeout_ms = 2000};
  settings.s3.access_key_id = id;
  settings.s3.secret_access_key = Secret(secret);
  settings.s3.endpoint_url = endpoint;
  return settings;
}

bool is_said(const Reading& reading, const std::string& words) {
  return reading.message().find(words) != std::string::npos;
}

class SignedS3 : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!Swift::unavailable_because().empty()) return;
    std::map<std::string, std::string> objects;
    for (const char* name : names) objects[std::string("bkt/") + name] = seeded_bytes(1, 0, size);
    objects["bkt/in.parts"] = seeded_bytes(2, 0, 2 * size);
    objects["bkt/empty"] = "";
    server = std::make_unique<Swift>(objects);
  }
  static void TearDownTestSuite() { server.reset(); }
  void SetUp() override {
    if (const std::string reason = Swift::unavailable_because(); !reason.empty()) GTEST_SKIP() << reason;
    settings = settings_for(server->endpoint(), Swift::access_key_id, Swift::secret);
  }
  Reading get(const std::string& path, const ReadOptions& options = {}) {
    const auto fetchers = make_fetchers(settings);
    return read(*fetchers, "s3://" + path, options);
  }

  static constexpr std::uint64_t size = 100'000;
  static constexpr const char* names[] = {"plain", "a=b/c d (1)*~!'", "x+y&é%#@:,;$", "数据/ü 1"};
  static std::unique_ptr<Swift> server;
  FetcherSettings settings;
};
std::unique_ptr<Swift> SignedS3::server;

std::string encoded(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/'
               ? std::string(1, c)
               : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  return out;
}

TEST_F(SignedS3, NamesThatAreHardToSign) {
  for (const char* name : names) {
    const Reading reading = get("bkt/" + encoded(name));
    EXPECT_EQ(reading.kind(), std::nullopt) << name << ": " << reading.message();
    EXPECT_TRUE(reading.bytes == seeded_bytes(1, 0, size)) << name;
    EXPECT_EQ(reading.requests, 1u);
  }
  // As people write them: the characters that a URL may hold unencoded.
  EXPECT_EQ(get("bkt/a=b/c%20d%20(1)*~!'").kind(), std::nullopt);
  EXPECT_EQ(get("bkt/x+y&%C3%A9%25%23@:,;$").kind(), std::nullopt);
  EXPECT_EQ(get("bkt/empty").info.size_bytes, 0u);
}

TEST_F(SignedS3, RangesAndVersions) {
  const Reading part = get("bkt/plain", {.offset = 99'990, .length = 100});
  EXPECT_EQ(part.bytes, seeded_bytes(1, 99'990, 10)) << part.message();
  const Validators begun = part.info.validators;
  EXPECT_FALSE(begun.etag.empty());
  EXPECT_EQ(get("bkt/plain", {.offset = 10, .length = 10, .expected = begun}).kind(), std::nullopt);
  const Reading other = get("bkt/in.parts", {.offset = 10, .length = 10, .expected = begun});
  EXPECT_EQ(other.kind(), FailureKind::changed) << other.message();
}

TEST_F(SignedS3, AnObjectInParts) {
  const Reading reading = get("bkt/in.parts", {.offset = size - 5, .length = 10});
  EXPECT_EQ(reading.bytes, seeded_bytes(2, size - 5, 10)) << reading.message();
  EXPECT_TRUE(reading.info.validators.etag.ends_with("-2\"")) << reading.info.validators.etag;
}

TEST_F(SignedS3, KeysThatAreWrong) {
  settings = settings_for(server->endpoint(), Swift::access_key_id, "another secret");
  Reading reading = get("bkt/plain");
  EXPECT_EQ(reading.kind(), FailureKind::access);
  EXPECT_TRUE(is_said(reading, "SignatureDoesNotMatch")) << reading.message();
  EXPECT_FALSE(is_said(reading, "another secret"));
  settings = settings_for(server->endpoint(), "nobody", Swift::secret);
  reading = get("bkt/plain");
  EXPECT_EQ(reading.kind(), FailureKind::access) << reading.message();
  EXPECT_TRUE(is_said(reading, "check the keys")) << reading.message();
}

TEST_F(SignedS3, WhatIsNotThere) {
  const Reading key = get("bkt/absent");
  EXPECT_EQ(key.kind(), FailureKind::unavailable);
  EXPECT_TRUE(is_said(key, "cannot read s3://bkt/absent: HTTP 404 NoSuchKey")) << key.message();
  const Reading bucket = get("no-such-bucket/plain");
  EXPECT_EQ(bucket.kind(), FailureKind::unavailable);
  EXPECT_TRUE(is_said(bucket, "NoSuchBucket")) << bucket.message();
}

TEST_F(SignedS3, TheRegionIsLearnt) {
  settings.s3.region = "eu-west-1";
  const auto fetchers = make_fetchers(settings);
  const Reading first = read(*fetchers, "s3://bkt/plain");
  EXPECT_EQ(first.kind(), std::nullopt) << first.message();
  EXPECT_EQ(first.requests, 2u);
  EXPECT_EQ(read(*fetchers, "s3://bkt/plain").requests, 1u);
}

TEST_F(SignedS3, ASessionToken) {
  settings.s3.session_token = Secret("a+token/=");
  EXPECT_EQ(get("bkt/plain").kind(), std::nullopt);
}

TEST(S3, DeniedWithoutKeysSaysSo) {
  if (!Nginx::available()) GTEST_SKIP() << "nginx is not installed";
  const TempDir root;
  const Nginx server({.root = root.path(), .denied = "/private"});
  const auto fetchers = make_fetchers(settings_for(server.url("")));
  const Reading reading = read(*fetchers, "s3://private/f");
  EXPECT_EQ(reading.kind(), FailureKind::access);
  EXPECT_TRUE(is_said(reading, "without keys")) << reading.message();
}

TEST(S3, WhatTheCodeKnowsComesBeforeWhatTheStatusMeans) {
  if (!Nginx::available()) GTEST_SKIP() << "nginx is not installed";
  const std::string codes[][2] = {
      {"InvalidObjectState", "restore"}, {"AccessDenied", "without keys"}, {"Odd", "without keys"}};
  std::string locations;
  for (const auto& [code, hint] : codes)
    locations += fmt::format("location = /b/{} {{ return 403 '<Error><Code>{}</Code></Error>'; }}\n", code, code);
  locations +=
      "location = /b/pays { return 403 '<Error><Code>AccessDenied</Code><Message>requester pays</Message></Error>'; "
      "}\n";
  const TempDir root;
  const Nginx server({.root = root.path(), .extra = locations});
  const auto fetchers = make_fetchers(settings_for(server.url("")));  // without keys
  for (const auto& [code, hint] : codes) {
    const Reading reading = read(*fetchers, "s3://b/" + code);
    EXPECT_EQ(reading.kind(), FailureKind::access) << code;
    EXPECT_NE(reading.failure->hint.find(hint), std::string::npos) << code << ": " << reading.failure->hint;
  }
  EXPECT_NE(read(*fetchers, "s3://b/pays").failure->hint.find("--request-payer"), std::string::npos);
}

TEST(S3, AnswersInTheirOwnWords) {
  if (!Nginx::available()) GTEST_SKIP() << "nginx is not installed";
  struct Case {
    int status;
    const char* body;
    FailureKind kind;
    const char* words;
  };
  const Case cases[] = {
      {503, "<Error><Code>SlowDown</Code><Message>less</Message></Error>", FailureKind::network, "SlowDown: less"},
      {403, "<Error><Code>RequestTimeTooSkewed</Code></Error>", FailureKind::access, "RequestTimeTooSkewed"},
      {403, "<Error><Code>InvalidObjectState</Code></Error>", FailureKind::access, "InvalidObjectState"},
      {400, "<Error><Code>ExpiredToken</Code></Error>", FailureKind::access, "temporary keys"},
      {400, "<Error><Code>PermanentRedirect</Code></Error>", FailureKind::unavailable, "s3_region"},
      {404, "<Error><Code>NoSuchKey</Code><Message>\x1b[31mred</Message></Error>", FailureKind::unavailable,
       "\\x1b[31mred"},
      {500, "no XML", FailureKind::network, "HTTP 500"},
  };
  const TempDir root;
  std::string locations;
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    locations += fmt::format("location = /b/{} {{ return {} '{}'; }}\n", i, cases[i].status, cases[i].body);
  }
  const Nginx server({.root = root.path(), .extra = locations});
  const auto fetchers = make_fetchers(settings_for(server.url(""), "id", "the secret"));
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    const Reading reading = read(*fetchers, fmt::format("s3://b/{}", i));
    EXPECT_EQ(reading.kind(), cases[i].kind) << i << ": " << reading.message();
    EXPECT_TRUE(is_said(reading, cases[i].words)) << reading.message();
    EXPECT_FALSE(is_said(reading, "the secret"));
  }
}

TEST(S3, HostsThatAreDown) {
  const auto fetchers = make_fetchers(settings_for(fmt::format("http://127.0.0.1:{}", free_port())));
  const Reading reading = read(*fetchers, "s3://b/k");
  EXPECT_EQ(reading.kind(), FailureKind::network);
  EXPECT_TRUE(is_said(reading, "cannot read s3://b/k (http://127.0.0.1:")) << reading.message();
}

TEST(S3, SecretsStayOutOfWhatIsSent) {
  FaultServer server;
  const auto fetchers = make_fetchers(settings_for(server.url(""), "id", "the secret"));
  static_cast<void>(read(*fetchers, "s3://ok/k"));
  const auto heads = server.heads("/ok/k");
  ASSERT_FALSE(heads.empty());
  EXPECT_NE(heads[0].find("Credential=id/"), std::string::npos) << heads[0];
  EXPECT_EQ(heads[0].find("the secret"), std::string::npos);
}

}  // namespace
}  // namespace sabath::test
