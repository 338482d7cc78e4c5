#include "http/redirects.h"

#include <gtest/gtest.h>

#include "sabath/error.h"

namespace sabath {
namespace {

TEST(Reach, OfAddresses) {
  const std::pair<std::string_view, Reach> cases[] = {
      {"127.0.0.1", Reach::host},
      {"127.255.0.9", Reach::host},
      {"0.0.0.0", Reach::host},
      {"2130706433", Reach::host},
      {"0x7f.1", Reach::host},
      {"::1", Reach::host},
      {"[::1]", Reach::host},
      {"::", Reach::host},
      {"::ffff:127.0.0.1", Reach::host},
      {"64:ff9b::7f00:1", Reach::host},
      {"localhost", Reach::host},
      {"a.localhost", Reach::host},
      {"169.254.169.254", Reach::link},
      {"100.100.100.200", Reach::link},  // metadata services that stand elsewhere
      {"100.100.100.201", Reach::site},
      {"168.63.129.16", Reach::link},
      {"168.63.129.17", Reach::global},
      {"192.0.0.192", Reach::link},
      {"fd00:ec2::254", Reach::link},
      {"fd00:ec2::253", Reach::site},
      {"fd20:ce::254", Reach::link},
      {"fe80::1%eth0", Reach::link},
      {"10.1.2.3", Reach::site},
      {"172.16.0.1", Reach::site},
      {"172.31.255.255", Reach::site},
      {"192.168.1.1", Reach::site},
      {"100.64.0.1", Reach::site},
      {"fd00::1", Reach::site},
      {"::ffff:10.0.0.1", Reach::site},
      {"8.8.8.8", Reach::global},
      {"172.32.0.1", Reach::global},
      {"172.15.0.1", Reach::global},
      {"2001:db8::1", Reach::global},
      {"a.example", Reach::global},
      {"", Reach::global},
  };
  for (const auto& [address, reach] : cases) EXPECT_EQ(reach_of(address), reach) << address;
  EXPECT_EQ(reach_of(Url::parse("https://127.0.0.1/x")), Reach::host);
  EXPECT_EQ(reach_of(Url::parse("s3://bucket/k?region=r&endpoint%5Foverride=10.0.0.1:9000")), Reach::site);
  EXPECT_EQ(reach_of(Url::parse("s3://bucket/k?endpoint_override=o.example")), Reach::global);
  EXPECT_EQ(reach_of(Url::parse("s3://bucket/k?endpoint_override=///")), Reach::host) << "what is none is not trusted";
}

bool follows(const std::string& from, const std::string& location) {
  Redirects redirects(Url::parse(from));
  try {
    redirects.follow(location);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::unavailable);
    return false;
  }
}

TEST(Redirects, SchemesThatMayFollow) {
  EXPECT_TRUE(follows("http://a.example/x", "http://b.example/"));
  EXPECT_TRUE(follows("http://a.example/x", "https://b.example/"));
  EXPECT_TRUE(follows("https://a.example/x", "https://b.example/"));
  EXPECT_TRUE(follows("https://a.example/x", "y z/\xc3\xbc"));
  EXPECT_FALSE(follows("https://a.example/x", "http://a.example/x"));
  EXPECT_FALSE(follows("http://a.example/x", "file:///etc/passwd"));
  EXPECT_FALSE(follows("http://a.example/x", "ftp://a.example/x"));
  EXPECT_FALSE(follows("http://a.example/x", "gopher://a.example/x"));
  EXPECT_FALSE(follows("http://a.example/x", "http://user:secret@b.example/x"));
  EXPECT_FALSE(follows("http://a.example/x", "http://[oops/"));
}

TEST(Redirects, LoopsAreNamed) {
  Redirects redirects(Url::parse("http://a.example/1"));
  redirects.follow("/2");
  try {
    redirects.follow("/1");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.failure().message.find("loop"), std::string::npos) << error.failure().message;
    EXPECT_NE(error.failure().message.find("http://a.example/1"), std::string::npos) << error.failure().message;
  }
}

TEST(Redirects, TheSameUrlIsNoLoopOnceItIsAskedOtherwise) {
  Redirects redirects(Url::parse("http://a.example/1"));
  redirects.follow("/1", true);  // with a cookie now
  redirects.follow("/2");
  EXPECT_THROW(redirects.follow("/1"), Error);
  Redirects endless(Url::parse("http://a.example/1"));
  for (int i = 0; i < 10; ++i) endless.follow("/1", true);
  EXPECT_THROW(endless.follow("/1", true), Error);
}

TEST(Redirects, TenAtMost) {
  Redirects redirects(Url::parse("http://a.example/start"));
  for (int i = 0; i < 10; ++i) redirects.follow(std::to_string(i));
  EXPECT_THROW(redirects.follow("/10"), Error);
}

bool may_lead(std::string_view from, std::string_view to) {
  Redirects redirects(Url::parse("http://a.example/"));
  redirects.check_address(from);
  redirects.follow("http://b.example/");
  try {
    redirects.check_address(to);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(Redirects, NeverNearerThanTheOriginal) {
  EXPECT_TRUE(may_lead("8.8.8.8", "8.8.4.4"));
  EXPECT_TRUE(may_lead("127.0.0.1", "127.0.0.1"));
  EXPECT_TRUE(may_lead("127.0.0.1", "10.0.0.1"));
  EXPECT_TRUE(may_lead("10.0.0.1", "192.168.0.1"));
  EXPECT_FALSE(may_lead("8.8.8.8", "127.0.0.1"));
  EXPECT_FALSE(may_lead("8.8.8.8", "10.0.0.1"));
  EXPECT_FALSE(may_lead("8.8.8.8", "::1"));
  EXPECT_FALSE(may_lead("10.0.0.1", "169.254.169.254"));
  EXPECT_FALSE(may_lead("10.0.0.1", "127.0.0.1"));
}

TEST(Redirects, NearerWhereTheUserAllowsIt) {
  const std::vector<std::string> allowed = {"data.lab", "*.store.lab"};
  for (const auto& [host, may] : {std::pair{"data.lab", true},
                                  {"a.b.store.lab", true},
                                  {"DATA.LAB", true},
                                  {"store.lab", false},
                                  {"evil-data.lab", false},
                                  {"data.lab.example", false}}) {
    Redirects redirects(Url::parse("http://a.example/"), std::nullopt, allowed);
    redirects.check_address("8.8.8.8");
    redirects.follow(std::string("http://") + host + "/");
    if (may) {
      EXPECT_NO_THROW(redirects.check_address("10.0.0.1")) << host;
      EXPECT_EQ(redirects.reach(), Reach::global) << "what it says may lead no nearer than the first";
    } else {
      EXPECT_THROW(redirects.check_address("10.0.0.1"), Error) << host;
    }
  }
}

TEST(Redirects, NeverNearerThanTheFarthestHop) {
  Redirects redirects(Url::parse("http://a.example/"));
  redirects.check_address("127.0.0.1");
  redirects.follow("http://b.example/");
  redirects.check_address("8.8.8.8");
  EXPECT_EQ(redirects.reach(), Reach::global);
  redirects.follow("http://c.example/");
  EXPECT_THROW(redirects.check_address("127.0.0.1"), Error);
}

TEST(Redirects, NeverNearerThanTheDocumentThatNamedTheUrl) {
  const auto may_be_at = [](std::optional<Reach> bound, std::string_view address) {
    Redirects redirects(Url::parse("http://a.example/"), bound);
    try {
      redirects.check_address(address);
      EXPECT_EQ(redirects.reach(), std::min(bound.value_or(Reach::host), reach_of(address)));
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::unavailable);
      return false;
    }
  };
  EXPECT_TRUE(may_be_at(std::nullopt, "127.0.0.1"));
  EXPECT_TRUE(may_be_at(Reach::host, "127.0.0.1"));
  EXPECT_TRUE(may_be_at(Reach::site, "10.0.0.1"));
  EXPECT_TRUE(may_be_at(Reach::site, "8.8.8.8"));
  EXPECT_FALSE(may_be_at(Reach::site, "169.254.169.254"));
  EXPECT_FALSE(may_be_at(Reach::global, "10.0.0.1"));
  EXPECT_FALSE(may_be_at(Reach::global, "::1"));
}

TEST(Redirects, ThroughAProxyTheNameCounts) {
  Redirects redirects(Url::parse("http://a.example/"));
  redirects.check_address("10.0.0.8");  // the proxy
  redirects.follow("http://169.254.169.254/latest/meta-data");
  EXPECT_THROW(redirects.check_address("10.0.0.8"), Error);
}

}  // namespace
}  // namespace sabath
