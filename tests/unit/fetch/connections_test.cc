// The number of connections of a host: the policy in a loop with hosts that are functions of their connections.
#include "fetch/decide/connections.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace sabath {
namespace {

struct SimulatedHost {
  std::function<double(unsigned)> rate;  // bytes a second, of the number of connections
  double latency = 0.02;
  double noise = 0;
  bool many = false;  // small files
  double bytes = 0;   // sent so far
};

struct Seen {
  unsigned target = 0, most = 0;
  unsigned changes = 0;
  std::vector<std::string> reasons;
};

// Lets the policy look each 50 ms; new connections begin at once.
Seen watch(ConnectionPolicy& policy, SimulatedHost& host, double seconds, double from = 0) {
  std::mt19937_64 random(7);
  Seen result;
  for (double now = from; now < from + seconds; now += 0.05) {
    host.bytes +=
        0.05 * host.rate(policy.target()) * std::uniform_real_distribution<>(1 - host.noise, 1 + host.noise)(random);
    const auto all = static_cast<std::uint64_t>(host.bytes);
    if (policy.observe({now, all, all, policy.target(), host.latency, {host.many, false}})) {
      ++result.changes;
      result.reasons.push_back(policy.reason());
    }
    result.most = std::max(result.most, policy.target());
  }
  result.target = policy.target();
  return result;
}

TEST(ConnectionPolicy, Table) {
  const auto each = [](double rate, double most) { return [=](unsigned n) { return std::min(most, rate * n); }; };
  struct Case {
    const char* name;
    unsigned start, max;
    SimulatedHost host;
    unsigned at_least, at_most;  // connections in the end
  };
  const std::vector<Case> cases = {
      {"loopback: no gain from more", 8, 16, {each(1e9, 1e9), 0.0002, 0.02}, 8, 11},
      {"near, each as quick as it may be", 8, 16, {each(1e6, 1e12), 0.001}, 16, 16},
      {"far, bound by windows (6 MiB, 100 ms)", 8, 16, {each(63e6, 1e12), 0.1}, 16, 16},
      {"many small files: a request is a round trip", 8, 64, {each(64 << 10, 1e12), 0.02, 0, true}, 64, 64},
      {"the same, but for noise", 8, 64, {each(64 << 10, 1e12), 0.02, 0.1, true}, 48, 64},
      {"small files up to what the link has", 8, 64, {each(1e6, 20e6), 0.0005, 0, true}, 16, 40},
      {"far, and each as quick as it may be: found out bit by bit", 8, 64, {each(1e6, 1e12), 0.02}, 24, 64},
      {"far, and no gain from more", 8, 64, {each(1e9, 1e9), 0.1}, 33, 42},
      {"one at a time is asked for", 1, 1, {each(1e6, 1e12), 0.1}, 1, 1},
      {"fewer than the start are allowed", 8, 4, {each(1e6, 1e12), 0.1}, 4, 4},
  };
  for (const auto& c : cases) {
    ConnectionPolicy policy({c.start, c.max});
    SimulatedHost host = c.host;
    const Seen seen = watch(policy, host, 8);
    EXPECT_GE(seen.target, c.at_least) << c.name;
    EXPECT_LE(seen.target, c.at_most) << c.name;
    EXPECT_LE(seen.most, c.max) << c.name;
  }
}

// A host of which no connection stands so long after one was tried.
ConnectionPolicy::Seen silence(double now, unsigned in_use, double connecting = 6) {
  return {.now = now, .in_use = in_use, .connecting = connecting};
}

// The longer nothing comes, the farther away it is, and the more connections it takes to fill the way.
TEST(ConnectionPolicy, SilenceIsDistance) {
  ConnectionPolicy policy({8, 64});
  EXPECT_FALSE(policy.observe(silence(5, 0, 0))) << "nothing was asked";
  EXPECT_FALSE(policy.observe(silence(5.9, 8, 0))) << "its name is not known yet";
  EXPECT_FALSE(policy.observe(silence(6.004, 8))) << "a connection to one that is near takes as long";
  EXPECT_TRUE(policy.observe(silence(6.02, 8)));
  const unsigned some = policy.target();
  EXPECT_GT(some, 16U);
  EXPECT_LT(some, 32U);
  EXPECT_FALSE(policy.observe(silence(6.03, some - 1))) << "those that it has are not used yet";
  policy.observe(silence(9, some));
  EXPECT_EQ(policy.target(), 48U) << "the way may be broken, and not long";
  EXPECT_FALSE(policy.observe(silence(10, 48)));
  EXPECT_TRUE(policy.observe({10.2, 1000, 1000, 48, 0.2})) << "it speaks, and is far away";
  EXPECT_EQ(policy.target(), 64U);
}

// A connection that stands says how long the way is, a round trip before the first answer; also that it is not as long
// as it seemed.
TEST(ConnectionPolicy, AConnectionTellsTheDistance) {
  for (const auto& [trip, target] : {std::pair{0.1, 64U}, {0.03, 20U}, {0.0005, 8U}, {1.01, 48U}}) {
    ConnectionPolicy policy({8, 64});
    policy.observe(silence(0.5, 8, 0.001));
    EXPECT_EQ(policy.target(), 48U);
    auto seen = silence(0.6, 48, 0.001);
    seen.trip = trip;
    policy.observe(seen);
    EXPECT_EQ(policy.target(), target) << trip;  // one that was asked for twice says nothing
    seen.now = 9;
    EXPECT_FALSE(policy.observe(seen)) << "it is said once";
  }
}

// If the host is the only source, slow start takes most of the time. Small files share the connections of a host.
TEST(ConnectionPolicy, TheOnlyHostIsGivenMore) {
  const ConnectionPolicy::Limits limits{.start = 8, .max = 64, .sole_max = 96};
  const auto given = [&](double trip, bool sole, ConnectionPolicy::Manner manner = {}) {
    ConnectionPolicy by_connection(limits), by_answer(limits);
    auto seen = silence(0.5, 8, 0.45);
    seen.trip = trip;
    seen.sole = sole;
    seen.manner = manner;
    by_connection.observe(seen);
    seen = {0.6, 1000, 1000, 8, 2 * trip};
    seen.sole = sole;
    seen.manner = manner;
    by_answer.observe(seen);
    EXPECT_EQ(by_answer.target(), by_connection.target()) << trip;
    return by_connection.target();
  };
  EXPECT_EQ(given(0.1, false), 64U);
  EXPECT_EQ(given(0.1, true), 94U);
  EXPECT_EQ(given(0.3, true), 96U);
  EXPECT_EQ(given(0.02, false), 14U);
  EXPECT_EQ(given(0.02, true), 17U);
  EXPECT_EQ(given(0.3, true, {true, false}), 64U);
}

// While it is silent, too: no other host could be nearer.
TEST(ConnectionPolicy, TheOnlyHostIsGivenMoreWhileItIsSilent) {
  const auto given = [](double silent, bool sole, bool many) {
    ConnectionPolicy policy({.start = 8, .max = 64, .sole_max = 96});
    auto seen = silence(6 + silent, 8);
    seen.sole = sole;
    seen.manner.many = many;
    policy.observe(seen);
    return policy.target();
  };
  EXPECT_EQ(given(0.06, false, false), 48U);
  EXPECT_EQ(given(0.06, true, true), 48U);
  EXPECT_EQ(given(0.06, true, false), 96U);
  EXPECT_EQ(given(0.03, false, false), 40U);
  EXPECT_EQ(given(0.03, true, false), 56U);
  EXPECT_EQ(given(0.004, true, false), 8U);
}

// A host whose distance is known when the first byte comes is given as many at once.
TEST(ConnectionPolicy, ADistanceThatIsKnownCountsLikeSilence) {
  for (const auto& [latency, least, most] :
       {std::tuple{0.001, 8U, 8U}, {0.02, 8U, 9U}, {0.04, 12U, 20U}, {0.2, 60U, 64U}}) {
    ConnectionPolicy policy({8, 64});
    policy.observe({0, 1000, 1000, 1, latency});
    EXPECT_GE(policy.target(), least) << latency;
    EXPECT_LE(policy.target(), most) << latency;
  }
}

// Nearby, connections share the cores. Small files wait for answers, near and far.
TEST(ConnectionPolicy, NearbyAsManyAsThereAreCores) {
  const ConnectionPolicy::Limits two_cores{.start = 8, .max = 64, .near_start = 2};
  ConnectionPolicy by_answer(two_cores), by_connection(two_cores), far(two_cores), many(two_cores);
  EXPECT_TRUE(by_answer.observe({0, 1000, 1000, 1, 0.001}));
  EXPECT_EQ(by_answer.target(), 2U);
  EXPECT_FALSE(by_answer.observe({0.01, 2000, 2000, 2, 0.001})) << "it is said once";

  auto seen = silence(0.5, 8);
  seen.trip = 0.0002;
  EXPECT_TRUE(by_connection.observe(seen));
  EXPECT_EQ(by_connection.target(), 2U);

  far.observe({0, 1000, 1000, 1, 0.02});
  EXPECT_GE(far.target(), 8U);

  many.observe({0, 1000, 1000, 1, 0.001, {true, false}});
  EXPECT_EQ(many.target(), 8U);
  by_answer.observe({0.02, 3000, 3000, 2, 0.001, {true, false}});
  EXPECT_EQ(by_answer.target(), 8U) << "and those that begin later";

  ConnectionPolicy each_is_quick(two_cores);
  SimulatedHost host{[](unsigned n) { return 1e8 * n; }, 0.001};
  EXPECT_EQ(watch(each_is_quick, host, 8).target, 16U) << "what more connections bring is found out";
}

// If all lanes wait for a checksum, more connections bring nothing sooner.
TEST(ConnectionPolicy, WhatWaitsForUsGrowsNoFurther) {
  const auto watched = [](double held_from) {
    ConnectionPolicy policy({.start = 8, .max = 64, .near_start = 2});
    double bytes = 0;
    std::vector<unsigned> targets{2};
    for (double now = 0; now < 2; now += 0.01) {
      bytes += 1e6 * policy.target();
      const auto all = static_cast<std::uint64_t>(bytes);
      ConnectionPolicy::Seen seen{now, all, all, policy.target(), 0.001};
      seen.held_back = now >= held_from && std::fmod(now, 0.05) < 0.01;
      if (policy.observe(seen) && policy.target() < targets.back()) {
        EXPECT_NE(policy.reason().find("waits for our checksum"), std::string::npos) << policy.reason();
      }
      targets.push_back(policy.target());
    }
    return targets;
  };
  EXPECT_EQ(watched(9).back(), 16U);
  const auto from_the_start = watched(0);
  EXPECT_EQ(std::ranges::count(from_the_start, 2U), std::ssize(from_the_start));
  const auto later = watched(0.4);
  EXPECT_EQ(std::ranges::max(later), 4U);
  EXPECT_EQ(later.back(), 2U) << "what the last step brought is not needed";
}

// If our cores are busy, more connections to a host nearby bring nothing sooner.
TEST(ConnectionPolicy, BusyCoresTakeNoMoreConnections) {
  const auto most = [](std::optional<double> idle_part, double latency) {
    ConnectionPolicy policy({.start = 8, .max = 64, .near_start = 2});
    double bytes = 0;
    unsigned most = 0;
    for (double now = 0; now < 2; now += 0.05) {
      bytes += 1e6 * policy.target();
      const auto all = static_cast<std::uint64_t>(bytes);
      ConnectionPolicy::Seen seen{now, all, all, policy.target(), latency};
      if (idle_part) seen.idle = 1000 + now * *idle_part;
      const unsigned before = policy.target();
      if (policy.observe(seen) && before > 2 && policy.target() < before && now > 0.05) {
        EXPECT_NE(policy.reason().find("cores are busy"), std::string::npos) << policy.reason();
      }
      if (now > 0) most = std::max(most, policy.target());
    }
    return most;
  };
  EXPECT_EQ(most(0.05, 0.001), 2U);
  EXPECT_EQ(most(0.5, 0.001), 16U);
  EXPECT_EQ(most(std::nullopt, 0.001), 16U) << "what is not known holds nothing back";
  EXPECT_EQ(most(0.05, 0.02), most(std::nullopt, 0.02)) << "far away it is time that more of them win";
}

TEST(ConnectionPolicy, ConnectionsThatAreNotUsedSayNothing) {
  ConnectionPolicy policy({8, 16});
  for (double now = 0; now < 10; now += 0.05) EXPECT_FALSE(policy.observe({now, 1000, 1000, 3, 0.001}));
}

TEST(ConnectionPolicy, WhatOthersLoseIsNoGain) {
  ConnectionPolicy policy({8, 16});
  double mine = 0;
  for (double now = 0; now < 2.5; now += 0.05) {  // this host's share of a full link grows with its connections
    mine += 0.05 * 1e6 * policy.target();
    policy.observe(
        {now, static_cast<std::uint64_t>(mine), static_cast<std::uint64_t>(20e6 * now), policy.target(), 0.001});
  }
  EXPECT_EQ(policy.target(), 8U);
}

// Streams of one connection: what is far away is asked for all that may be, at once; what is near has no use for it.
TEST(ConnectionPolicy, RequestsThatShareConnections) {
  for (const auto& [latency, expected] : {std::pair{0.02, 64U}, {0.0005, 16U}}) {
    ConnectionPolicy policy({16, 64});
    policy.observe({0, 1000, 1000, 1, latency});
    EXPECT_EQ(policy.target(), 16U);
    policy.observe({0.05, 100'000, 100'000, 16, latency, {true, true}});
    EXPECT_EQ(policy.target(), expected);
    EXPECT_FALSE(policy.observe({0.06, 100'000, 100'000, 16, latency, {true, true}})) << "said once";
    policy.crowded(0.1, 40);
    EXPECT_LE(policy.target(), 20U) << "a host that has too many of us is heard";
  }
}

// While the first ones log in the rate grows by itself, and that is not what more of them bring.
TEST(ConnectionPolicy, LoginsAreNotTakenForGain) {
  ConnectionPolicy policy({.start = 4, .max = 64, .by_login = true});
  double bytes = 0;
  unsigned most = 0;
  for (double now = 0; now < 3; now += 0.05) {
    bytes += 0.05 * 600e6 * std::min(1.0, now / 0.8);
    const auto seen = static_cast<std::uint64_t>(bytes);
    policy.observe({now, seen, seen, policy.target(), 0.001});
    most = std::max(most, policy.target());
  }
  EXPECT_EQ(most, 8U);
  EXPECT_EQ(policy.target(), 4U);
}

// That a program takes its time to start says nothing of how far away the host is.
TEST(ConnectionPolicy, ProgramsAreSlowToStart) {
  ConnectionPolicy policy({.start = 8, .max = 64, .by_program = true});
  for (double now = 0; now < 1; now += 0.05) EXPECT_FALSE(policy.observe({now, 0, 0, 8, 0}));
  EXPECT_FALSE(policy.observe({1, 1, 1, 8, 0.8}));
  EXPECT_EQ(policy.target(), 8U);
  double bytes = 0;
  for (double now = 1; now < 60; now += 0.05) {  // but more of them are tried, and kept while they bring more
    bytes += 0.05 * 1e6 * std::min(policy.target(), 20U);
    const auto seen = static_cast<std::uint64_t>(bytes);
    policy.observe({now, seen, seen, policy.target(), 0.8});
  }
  EXPECT_GE(policy.target(), 16U);
}

// A login takes many round trips: far away a few are begun at once, nearby no more than there are cores for.
TEST(ConnectionPolicy, LoginsFarAwayAndNearby) {
  for (const auto& [latency, first, most] : {std::tuple{0.05, 12U, 48U}, {0.0005, 2U, 3U}}) {
    ConnectionPolicy policy({.start = 2, .max = 64, .by_login = true, .near_max = 3});
    policy.observe({0, 1, 1, 1, latency});
    EXPECT_EQ(policy.target(), first);
    double bytes = 0;
    for (double now = 0; now < 60; now += 0.05) {  // each brings as much as the first, up to 48 of them
      bytes += 0.05 * 10e6 * std::min(policy.target(), 48U);
      policy.observe(
          {now, static_cast<std::uint64_t>(bytes), static_cast<std::uint64_t>(bytes), policy.target(), latency});
      if (now < 10 * latency) {
        EXPECT_EQ(policy.target(), first) << "before a login could be over";
      }
    }
    EXPECT_GE(policy.target(), most) << latency;
    if (latency < 0.005) {
      EXPECT_EQ(policy.target(), most);
    }
  }
}

TEST(ConnectionPolicy, ProbesGetRarer) {
  ConnectionPolicy policy({8, 16});
  SimulatedHost host{[](unsigned) { return 100e6; }, 0.0002, 0};
  const Seen first = watch(policy, host, 30), later = watch(policy, host, 30, 30);
  EXPECT_LT(later.changes, first.changes);
  EXPECT_LE(first.changes, 10U);
}

TEST(ConnectionPolicy, ACrowdedHostIsGivenHalfOnce) {
  ConnectionPolicy policy({16, 16});
  EXPECT_TRUE(policy.crowded(1, 16));
  EXPECT_EQ(policy.target(), 8U);
  for (unsigned in_use = 15; in_use > 0; --in_use) EXPECT_FALSE(policy.crowded(1.05, in_use));  // asked for before
  EXPECT_EQ(policy.target(), 8U);
  EXPECT_TRUE(policy.crowded(3, 8));
  EXPECT_EQ(policy.target(), 4U);
  for (double now = 5; now < 20; now += 2) policy.crowded(now, policy.target());
  EXPECT_EQ(policy.target(), 1U);
}

TEST(ConnectionPolicy, AHostThatRefusesAProbeKeepsWhatItHad) {
  ConnectionPolicy policy({8, 16});
  policy.crowded(0, 8);
  EXPECT_EQ(policy.target(), 4U);
  SimulatedHost host{[](unsigned n) { return 1e6 * n; }, 0.02, 0};
  double now = 1;
  for (; policy.target() == 4 && now < 20; now += 0.05) watch(policy, host, 0.05, now);
  ASSERT_EQ(policy.target(), 5U);
  EXPECT_TRUE(policy.crowded(now, 5));
  EXPECT_EQ(policy.target(), 4U);
}

TEST(ConnectionPolicy, ReasonsTellTheRates) {
  ConnectionPolicy policy({8, 16});
  SimulatedHost host{[](unsigned n) { return 1e6 * n; }, 0.001, 0};
  const Seen seen = watch(policy, host, 1);
  ASSERT_FALSE(seen.reasons.empty());
  EXPECT_NE(seen.reasons[0].find("16 connections instead of 8"), std::string::npos) << seen.reasons[0];
  EXPECT_NE(seen.reasons[0].find("8000 kB/s"), std::string::npos) << seen.reasons[0];
}

}  // namespace
}  // namespace sabath
