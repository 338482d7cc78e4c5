#include "fetch/hosts/hosts.h"

#include <gtest/gtest.h>

#include <thread>

namespace sabath {
namespace {

using Clock = Host::Clock;
constexpr unsigned many = 1000;

unsigned connections_of(Host& host) {
  unsigned n = 0;
  while (n < many && host.try_connect()) ++n;
  for (unsigned i = 0; i < n; ++i) host.disconnect_unused();
  return n;
}

TEST(Hosts, ARuleNamesAHostOrAllBelowADomain) {
  Hosts hosts(0, 1, {{"data.lab", {3, 0}}, {"*.site", {2, 0}}, {"[::1]", {1, 0}}});
  EXPECT_EQ(connections_of(hosts.of("https://data.lab")), 3U);
  EXPECT_EQ(connections_of(hosts.of("ftp://data.lab:2222")), 3U);
  EXPECT_EQ(connections_of(hosts.of("sftp://other.lab")), 2U);  // no rule: each costs a login
  EXPECT_EQ(connections_of(hosts.of("http://a.b.site")), 2U);
  EXPECT_EQ(connections_of(hosts.of("http://[::1]:80")), 1U);
  for (const char* other : {"https://adata.lab", "https://data.lab.org", "https://site", "http://[::2]", "s3://lab"}) {
    EXPECT_GT(connections_of(hosts.of(other)), 3U) << other;
  }
}

TEST(Hosts, TheLeastOfAllRulesHolds) {
  Hosts hosts(0, 1, {{"data.lab", {5, 0}}});
  Host& host = hosts.of("https://data.lab");
  hosts.add_rule({"data.lab", {2, 100}});
  hosts.add_rule({"data.lab", {4, 0}});
  hosts.add_rule({"data.lab", {4, 0}});
  EXPECT_EQ(connections_of(host), 2U);
  EXPECT_EQ(hosts.rules().size(), 3U);
  EXPECT_EQ(hosts.connections(), 2U);
}

TEST(Hosts, RanksShareWhatAHostBears) {
  const std::vector<HostRule> rules{{"data.lab", {8, 0}}};
  for (const auto& [ranks, each] : {std::pair{1U, 8U}, {3U, 2U}, {8U, 1U}, {100U, 1U}}) {
    Hosts hosts(0, ranks, rules);
    EXPECT_EQ(connections_of(hosts.of("https://data.lab")), each) << ranks;
  }
}

TEST(Hosts, AByteRateIsKept) {
  Hosts hosts(0, 2, {{"data.lab", {0, 2'000'000}}});
  Host& host = hosts.of("https://data.lab");
  const auto begin = Clock::now();
  for (int i = 0; i < 4; ++i) host.received(100'000, {});
  EXPECT_GT(Clock::now() - begin, std::chrono::milliseconds(250));  // of 400 ms, a tenth of a second may be saved up
}

// Some servers refuse without a word. One hiccup, or a host of which nothing comes, is not that.
TEST(Hosts, WhoIsLeftOutTwiceWhileOthersAreServedIsTooMany) {
  for (const bool served : {true, false}) {
    Hosts hosts(0);
    Host& host = hosts.of("https://data.lab");
    const unsigned before = connections_of(host);
    for (unsigned i = 0; i < before; ++i) ASSERT_TRUE(host.try_connect());
    const auto left = [&] {
      for (unsigned i = 0; i < before; ++i) host.disconnect_unused();
      const unsigned now = connections_of(host);
      for (unsigned i = 0; i < before; ++i) (void)host.try_connect();
      return now;
    };
    host.received(1000, {});
    host.left_out();
    host.left_out();
    EXPECT_EQ(left(), before) << "by one hiccup";
    if (served) host.received(1000, {});
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    host.left_out();
    EXPECT_EQ(left(), served ? before / 2 : before);
  }
}

TEST(Hosts, WhoStoodStillHasToLookFirst) {
  Hosts hosts(0);
  const auto attended = [&] {
    for (const auto end = Clock::now() + std::chrono::seconds(20); hosts.stood_still() && Clock::now() < end;) {
      (void)hosts.tick();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return !hosts.stood_still();
  };
  EXPECT_TRUE(attended());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_TRUE(hosts.stood_still());
  (void)hosts.tick();
  EXPECT_TRUE(hosts.stood_still());  // not all have had their turn
  EXPECT_TRUE(attended());
}

TEST(Hosts, APauseIsNewsForOtherRanks) {
  Hosts one(0), other(0);
  Host& host = one.of("https://data.lab");
  Host& known = other.of("https://data.lab");
  const unsigned before = connections_of(known);
  host.pause_until(Clock::now() + std::chrono::seconds(30), true);
  EXPECT_EQ(one.tick(), std::vector<std::string>{"https://data.lab: asks for a pause of 30 s"});
  const auto pauses = one.take_pauses();
  ASSERT_EQ(pauses.size(), 1U);
  EXPECT_EQ(pauses[0].host, "data.lab");
  EXPECT_NEAR(pauses[0].seconds, 30, 1);
  EXPECT_TRUE(one.take_pauses().empty());
  const std::string news = one.take_news();
  ASSERT_FALSE(news.empty());
  EXPECT_EQ(one.take_news(), "");
  other.hear_news(news);
  EXPECT_EQ(connections_of(known), 0U);
  EXPECT_GT(known.paused_until(), Clock::now() + std::chrono::seconds(25));
  EXPECT_EQ(other.take_news(), "");  // it is not told on
  Hosts third(0);
  third.hear_news(news);
  EXPECT_EQ(connections_of(third.of("https://data.lab")), 0U) << "heard of before it was used";
  EXPECT_EQ(connections_of(third.of("https://other.lab")), before);
}

TEST(Hosts, WhatASourceHasShownIsNewsForOtherRanksAndALieOutweighsTheTruth) {
  Hosts one(0, 2), other(0, 2);
  Host& host = one.of("https://data.lab");
  Host& known = other.of("https://data.lab");
  one.judge(host, "a", Hosts::Word::right);
  one.judge(host, "b", Hosts::Word::right);
  one.judge(host, "b", Hosts::Word::wrong);
  one.judge(host, "b", Hosts::Word::right);
  host.pause_until(Clock::now() + std::chrono::seconds(30), true);
  EXPECT_EQ(other.wrong_words(), 0U);
  EXPECT_FALSE(other.suspect(known));
  other.hear_news(one.take_news());
  EXPECT_EQ(one.take_news(), "");
  EXPECT_EQ(other.take_news(), "") << "it is not told on";
  EXPECT_EQ(other.judged("a"), Hosts::Word::right);
  EXPECT_EQ(other.judged("b"), Hosts::Word::wrong);
  EXPECT_EQ(other.judged("c"), Hosts::Word::none);
  EXPECT_EQ(other.wrong_words(), 1U);
  EXPECT_TRUE(other.suspect(known));
  EXPECT_EQ(connections_of(known), 0U) << "the pause was told as well";
  known.received(64 << 20, {});
  EXPECT_FALSE(other.suspect(known)) << "one lie among so much";
}

TEST(Hosts, AnotherPauseOfTheSameLengthIsNoNews) {
  Hosts hosts(0);
  Host& host = hosts.of("https://data.lab");
  const auto until = Clock::now() + std::chrono::seconds(30);
  host.pause_until(until, false);
  EXPECT_FALSE(hosts.take_news().empty());
  host.pause_until(until, false);
  host.pause_until(until - std::chrono::seconds(5), false);
  EXPECT_TRUE(hosts.take_news().empty());
  EXPECT_EQ(host.paused_until(), until);
}

}  // namespace
}  // namespace sabath
