// Credentials of registries and Git LFS servers: a user without any is told so, with the URL that he named; no other
// server gets them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reading.h"
#include "support/nginx.h"
#include "support/registry.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

const std::string sha256 = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";  // of "x"

void expect_denied(const std::string& url, const RegistrySettings& registries = {}) {
  FetcherSettings settings{.user_agent = "sabath-test", .ca_file = {}};
  settings.registries = registries;
  const auto fetchers = make_fetchers(settings);
  const Reading reading = read(*fetchers, url);
  EXPECT_EQ(reading.kind(), FailureKind::access) << reading.message();
  EXPECT_EQ(reading.begins, 0);
  EXPECT_TRUE(reading.message().starts_with("cannot read " + Url::parse(url).display() + ": ")) << reading.message();
}

TEST(OciFetcher, ARegistryThatWantsALogin) {
  if (const std::string reason = Registry::unavailable_because(); !reason.empty()) GTEST_SKIP() << reason;
  const TempDir directory;
  write_file(directory / "passwords", "me:$2b$04$2eZwa86jMRYnQRhyqmxyXeYgAzpi.buj7Iw2r/eYgyYMCqwb7iF3e\n");  // s3cret
  const Registry server(
      {.more = fmt::format("auth: {{htpasswd: {{realm: lab, path: {}}}}}", (directory / "passwords").string())});
  write_file(server.place(sha256), "x");
  expect_denied(server.url(sha256));

  const std::string url = server.url(sha256), host = url.substr(6, url.find('/', 6) - 6);
  const std::filesystem::path logins = directory / "auth.json";
  const auto keep = [&](const std::string& name, const std::string& login) {  // as `podman login` writes it
    write_file(logins, fmt::format(R"({{"auths":{{"{}":{{"auth":"{}"}}}}}})", name, login));
    std::filesystem::permissions(logins, std::filesystem::perms{0600});
  };
  FetcherSettings settings{.user_agent = "sabath-test", .ca_file = {}};
  settings.registries = {{directory / "absent.json", logins}};
  for (const std::string& name : {host, host + "/lab", host + "/lab/data"}) {
    keep(name, "bWU6czNjcmV0");  // me:s3cret
    const Reading reading = read(*make_fetchers(settings), url);
    EXPECT_EQ(reading.bytes, "x") << name << ": " << reading.message();
  }
  keep(host, "bWU6d3Jvbmc=");  // me:wrong
  expect_denied(url, settings.registries);
  keep(host + "/other", "bWU6czNjcmV0");
  expect_denied(url, settings.registries);
  keep(host, "bWU6czNjcmV0");
  std::filesystem::permissions(logins, std::filesystem::perms{0644});
  expect_denied(url, settings.registries);
}

TEST(LfsFetcher, DeniedByTheServerOrWhereTheObjectIs) {
  if (!Nginx::available()) GTEST_SKIP() << "nginx is not installed";
  const std::string said = fmt::format(R"({{"objects":[{{"oid":"{}","size":1,)", sha256);
  const std::string refused = R"("error":{"code":403,"message":"no"}}]})";
  const TempDir root;
  const Nginx objects({.root = root.path(), .denied = "/"});
  const std::string led = fmt::format(R"("actions":{{"download":{{"href":"{}"}}}}}}]}})", objects.url("/x"));
  const std::string answers[] = {"return 401;", "return 403;", fmt::format("return 200 '{}{}';", said, refused),
                                 fmt::format("return 200 '{}{}';", said, led)};
  for (const std::string& answer : answers) {
    SCOPED_TRACE(answer);
    const Nginx server({.root = root.path(), .extra = fmt::format("location /r.git/ {{ {} }}", answer)});
    expect_denied("lfs+" + server.url("/r.git/info/lfs/" + sha256 + "?size=1"));
  }
}

TEST(LfsFetcher, HeadersOfAnObjectStayAtItsHost) {
  if (!Nginx::available()) GTEST_SKIP() << "nginx is not installed";
  const TempDir root;
  write_file(root / "x", "x");
  const Nginx elsewhere({.root = root.path(), .extra = "if ($http_x_key) { return 418; }"});
  const Nginx objects(
      {.root = root.path(),
       .extra = fmt::format("if ($http_x_key = k) {{ return 302 {}; }} return 403;", elsewhere.url("/x"))});
  const std::string said =
      fmt::format(R"({{"objects":[{{"oid":"{}","actions":{{"download":{{"href":"{}","header":{{"X-Key":"k"}}}}}}}}]}})",
                  sha256, objects.url("/x"));
  const Nginx server({.root = root.path(), .extra = fmt::format("location /r.git/ {{ return 200 '{}'; }}", said)});
  const auto fetchers = make_fetchers({.user_agent = "sabath-test", .ca_file = {}});
  const Reading reading = read(*fetchers, "lfs+" + server.url("/r.git/info/lfs/" + sha256 + "?size=1"));
  EXPECT_EQ(reading.bytes, "x") << reading.message();
}

}  // namespace
}  // namespace sabath::test
