#include "http/redirects.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/reach.h"
#include "curl/proxy.h"
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
      {"fd00:ec2::23", Reach::link},
      {"fd00:42::42", Reach::link},
      {"fd00:c1::a9fe:a9fe", Reach::link},
      {"fd00:a9fe:a9fe::1", Reach::link},
      {"fd00:ec3::254", Reach::site},
      {"fd20:ce::254", Reach::link},
      {"fe80::1%eth0", Reach::link},
      {"10.1.2.3", Reach::site},
      {"172.16.0.1", Reach::site},
      {"172.31.255.255", Reach::site},
      {"192.168.1.1", Reach::site},
      {"100.64.0.1", Reach::site},
      {"fd00::1", Reach::site},
      {"::ffff:10.0.0.1", Reach::site},
      {"2002:0a00:0001::1", Reach::site},
      {"64:ff9b:1::1", Reach::site},
      {"fec0::1", Reach::site},
      {"127.0.0.1.", Reach::host},
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

// As the transport does: the current hop is judged before it is asked, by its address.
void ask_at(Redirects& redirects, std::string_view address, const std::vector<std::string>& near_hosts = {}) {
  redirects.reached(check_reach(redirects.current(), address, near_hosts));
}

bool may_lead(std::string_view from, std::string_view to) {
  Redirects redirects(Url::parse("http://a.example/"));
  ask_at(redirects, from);
  redirects.follow("http://b.example/");
  try {
    ask_at(redirects, to);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::unavailable);
    EXPECT_NE(error.failure().hint.find("near_hosts"), std::string::npos) << error.failure().hint;
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
    Redirects redirects(Url::parse("http://a.example/"));
    ask_at(redirects, "8.8.8.8", allowed);
    redirects.follow(std::string("http://") + host + "/");
    if (may) {
      EXPECT_NO_THROW(ask_at(redirects, "10.0.0.1", allowed)) << host;
      EXPECT_EQ(redirects.reach(), Reach::global) << "what it says may lead no nearer than the first";
    } else {
      EXPECT_THROW(ask_at(redirects, "10.0.0.1", allowed), Error) << host;
    }
  }
}

TEST(Redirects, NeverNearerThanTheFarthestHop) {
  Redirects redirects(Url::parse("http://a.example/"));
  ask_at(redirects, "127.0.0.1");
  redirects.follow("http://b.example/");
  ask_at(redirects, "8.8.8.8");
  EXPECT_EQ(redirects.reach(), Reach::global);
  redirects.follow("http://c.example/");
  EXPECT_THROW(ask_at(redirects, "127.0.0.1"), Error);
}

TEST(CheckReach, NeverNearerThanThoseWhoNamedTheUrl) {
  const Url url = Url::parse("http://a.example/");
  const auto may_be_at = [&](std::optional<Reach> reach, std::string_view address) {
    const auto namer = reach ? std::optional(Namer{.reach = *reach}) : std::nullopt;
    try {
      EXPECT_EQ(check_reach(url.named_by(namer), address, {}), reach_of(address));
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::unavailable);
      EXPECT_NE(error.failure().hint.find("near_hosts"), std::string::npos) << error.failure().hint;
      return false;
    }
  };
  EXPECT_TRUE(may_be_at(std::nullopt, "127.0.0.1"));
  EXPECT_FALSE(may_be_at(std::nullopt, "169.254.169.254")) << "not even by the user's own word";
  EXPECT_TRUE(may_be_at(Reach::host, "127.0.0.1"));
  EXPECT_TRUE(may_be_at(Reach::site, "10.0.0.1"));
  EXPECT_TRUE(may_be_at(Reach::site, "8.8.8.8"));
  EXPECT_FALSE(may_be_at(Reach::site, "169.254.169.254"));
  EXPECT_FALSE(may_be_at(Reach::global, "10.0.0.1"));
  EXPECT_FALSE(may_be_at(Reach::global, "::1"));
}

TEST(CheckReach, BehindAProxyTheWordsCount) {
  const Namer others{.reach = Reach::global};
  EXPECT_EQ(check_reach(Url::parse("http://inner.lab/").named_by(others), "", {}), Reach::global);
  for (const char* words : {"http://169.254.169.254/latest/meta-data", "http://10.0.0.1/", "http://127.1./",
                            "http://[2002:7f00:1::]/", "http://localhost./"})
    EXPECT_THROW(static_cast<void>(check_reach(Url::parse(words).named_by(others), "", {})), Error) << words;
}

TEST(CheckReach, NearHostsAreAlsoAddresses) {
  const Url url = Url::parse("http://[fd00::1]/").named_by(Namer{.reach = Reach::global});
  for (const char* pattern : {"[fd00::1]", "fd00::1"})
    EXPECT_EQ(check_reach(url, "fd00::1", std::vector<std::string>{pattern}), Reach::site) << pattern;
  EXPECT_THROW(static_cast<void>(check_reach(url, "fd00::1", std::vector<std::string>{"fd00::2"})), Error);
}

TEST(Url, TheFarthestOfThoseWhoNameItCounts) {
  const Url own = Url::parse("http://a.example/dir/list");
  EXPECT_FALSE(own.namer());
  const Url near = own.named_by(Namer{.reach = Reach::site, .own_host = true, .user = 0});
  const Url far = near.named_by(Namer{.reach = Reach::global, .own_host = true, .user = 1});
  const Url again = far.named_by(Namer{.reach = Reach::host, .own_host = false, .user = 1});
  EXPECT_EQ(near.namer()->reach, Reach::site);
  EXPECT_EQ(far.namer()->reach, Reach::global);
  EXPECT_TRUE(far.namer()->own_host);
  EXPECT_EQ(*again.namer(), (Namer{.reach = Reach::global, .own_host = false, .user = 1}));
  EXPECT_EQ(far.resolve("x").namer(), far.namer());
  EXPECT_EQ(far, own) << "who named it makes no other URL";
}

TEST(Url, AllUsersWhoNameItCount) {
  constexpr std::optional<std::uint32_t> network = std::nullopt;
  const auto chain = [](const std::vector<std::optional<std::uint32_t>>& users) {
    Url url = Url::parse("file:///a");
    for (const auto& user : users) url.add_namer(Namer{.user = user});
    return url.namer()->user;
  };
  EXPECT_EQ(chain({0, 0}), 0U);
  EXPECT_EQ(chain({1, 1, 0}), 1U) << "a list of mine makes no other's word mine";
  EXPECT_EQ(chain({0, 1}), 1U);
  EXPECT_EQ(chain({1, 2}), any_user);
  EXPECT_EQ(chain({any_user, 1}), any_user);
  EXPECT_EQ(chain({1, any_user, 0}), any_user);
  EXPECT_EQ(chain({network, 0}), network);
  EXPECT_EQ(chain({1, network, 1}), network);
}

TEST(ProxyFor, IsAsLibcurlReadsTheVariables) {
  const auto proxy = [](const char* url, const std::map<std::string, std::string>& environment) {
    return proxy_for(Url::parse(url), environment);
  };
  EXPECT_EQ(proxy("http://h/", {{"http_proxy", "p:1"}}), "p:1");
  EXPECT_EQ(proxy("http://h/", {{"HTTP_PROXY", "p:1"}}), "") << "a CGI program's client could set it";
  EXPECT_EQ(proxy("https://h/", {{"HTTPS_PROXY", "p:1"}}), "p:1");
  EXPECT_EQ(proxy("https://h/", {{"http_proxy", "p:1"}}), "");
  EXPECT_EQ(proxy("ftp://h/", {{"ALL_PROXY", "p:1"}}), "p:1");
  EXPECT_EQ(proxy("sftp://h/", {{"sftp_proxy", "p:1"}}), "") << "no program is given it";
  const std::map<std::string, std::string> with = {{"http_proxy", "p:1"},
                                                   {"no_proxy", ".lab, x.example\t10.0.0.0/8 fd00::/16"}};
  for (const char* without : {"http://lab/", "http://a.lab/", "http://x.example./", "http://a.x.example/",
                              "http://10.1.2.3/", "http://[fd00::7]/"})
    EXPECT_EQ(proxy(without, with), "") << without;
  for (const char* by : {"http://alab/", "http://example/", "http://11.1.2.3/", "http://[fe00::7]/"})
    EXPECT_EQ(proxy(by, with), "p:1") << by;
  EXPECT_EQ(proxy("http://h/", {{"http_proxy", "p:1"}, {"NO_PROXY", "*"}}), "");
}

}  // namespace
}  // namespace sabath
