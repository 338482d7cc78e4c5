// The forecast follows from the planner: what the plan moves is what it counts, and a planner that errs is seen.
#include "stage/simulation/simulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

#include "sabath/error.h"
#include "stage/simulation/measured_sites.h"

namespace sabath::test {
namespace {

constexpr std::uint64_t one_mib = 1024 * 1024;

// 256 MiB, shared 20 MB/s, links 40 MB/s.
StageModel slow_cluster(unsigned nodes) {
  StageModel model;
  model.nodes = nodes;
  model.bytes = 256 * one_mib;
  model.threads = {2, 2};
  model.cluster.shared_rate = 20e6;
  model.cluster.link_in_rate = model.cluster.link_out_rate = 40e6;
  return model;
}

double at_least(const StageModel& model) {
  const auto bytes = static_cast<double>(model.bytes);
  const double link = std::min(model.cluster.link_in_rate, model.cluster.link_out_rate);
  const double readers = std::min(model.nodes, model.readers_max);
  // What a node does not read itself comes over its link; with one reader that is everything.
  const double over_link = model.nodes == 1 ? 0 : readers >= model.nodes ? bytes * (1 - 1.0 / model.nodes) : bytes;
  return std::max(bytes / model.cluster.shared_rate, over_link / link);
}

// Node 0 alone reads, even if others may.
Planner only_the_first_reads() {
  Planner planner;
  planner.choose = [](const std::vector<unsigned>& able, unsigned) { return std::vector{able.front()}; };
  return planner;
}

// From the giver to the first, and from each to the next, instead of trees.
Planner chain(unsigned members) {
  Planner planner;
  planner.hops = [members](const Plan& plan, unsigned me, std::size_t piece) {
    std::vector<Hop> hops;
    const unsigned giver = plan.giver(piece), channel = plan.channel(piece);
    if (me == giver && me != 0) hops.push_back({0, channel});
    const unsigned next = me + 1 == giver ? members : me + 1;
    if (next < members) hops.push_back({next, channel});
    return hops;
  };
  return planner;
}

TEST(Simulate, ReadsTheSizeOnceAndEveryOtherNodeReceivesIt) {
  for (const unsigned nodes : {1U, 2U, 3U, 5U, 16U, 63U, 64U, 65U, 200U}) {
    for (const std::uint64_t bytes : {std::uint64_t{1}, 4 * one_mib, 4 * one_mib + 1, 100 * one_mib - 7}) {
      StageModel model = slow_cluster(nodes);
      model.bytes = bytes;
      const StageForecast forecast = simulate_stage(model);
      EXPECT_EQ(forecast.bytes_from_shared, bytes) << nodes;
      EXPECT_EQ(forecast.bytes_from_peers, bytes * (nodes - 1)) << nodes;
      EXPECT_EQ(forecast.pieces_simulated, forecast.pieces);
    }
  }
}

TEST(Simulate, NeverFasterThanWhatTheMachineAllows) {
  std::mt19937 engine(20261121);
  const auto below = [&](std::uint64_t end) { return static_cast<unsigned>(engine() % end); };
  const auto random = [&](double from, double to) { return std::uniform_real_distribution(from, to)(engine); };
  for (unsigned round = 0; round < 60; ++round) {
    StageModel model = slow_cluster(1 + below(40));
    model.bytes = 1 + below(300 * one_mib);
    model.files = 1 + below(1000);
    model.readers_max = 1 + below(20);
    model.threads = {1 + below(8), 1 + below(8)};
    model.cluster.shared_rate = random(1e6, 1e9);
    model.cluster.shared_node_rate = random(1e6, 1e9);
    model.cluster.link_in_rate = random(1e6, 1e9);
    model.cluster.link_out_rate = random(1e6, 1e9);
    model.cluster.disk_rate = random(1e6, 1e9);
    model.cluster.latency = random(0, 0.001);
    if (model.files > model.bytes) continue;
    const StageForecast forecast = simulate_stage(model);
    const auto bytes = static_cast<double>(model.bytes);
    const double disk = bytes / model.cluster.disk_rate;
    // Parts are whole pieces: a reader may have one more than its share.
    const double most_read = bytes / std::min(model.nodes, forecast.readers) + 4.0 * one_mib;
    const double slack = model.nodes == 1 ? 0 : most_read / model.cluster.link_in_rate;
    EXPECT_GE(forecast.seconds, bytes / model.cluster.shared_rate * 0.999999) << round;
    EXPECT_GE(forecast.seconds + slack, at_least(model)) << round;
    EXPECT_GE(forecast.seconds, disk * 0.999999) << round;
    EXPECT_GE(forecast.seconds, bytes / forecast.readers / model.cluster.shared_node_rate * 0.999999) << round;
    EXPECT_EQ(forecast.bytes_from_shared, model.bytes);
  }
}

TEST(Simulate, GrowsLittleWithTheNodesWhenFewRead) {
  StageModel model = slow_cluster(2);
  const double two = simulate_stage(model).seconds;
  EXPECT_GE(two, at_least(model));
  EXPECT_LE(two, 1.05 * at_least(model));
  model.nodes = 16;
  EXPECT_LE(simulate_stage(model).seconds, 1.10 * two);
}

TEST(Simulate, MoreNodesNeverMoveFewerBytes) {
  std::uint64_t before = 0;
  for (unsigned nodes = 1; nodes <= 70; ++nodes) {
    const StageForecast forecast = simulate_stage(slow_cluster(nodes));
    EXPECT_GE(forecast.bytes_from_shared + forecast.bytes_from_peers, before) << nodes;
    before = forecast.bytes_from_shared + forecast.bytes_from_peers;
  }
}

// The shared filesystem bounds the rate of each node: a planner that lets one node read pays for it.
TEST(Simulate, APlannerThatLetsOneNodeReadIsSlower) {
  StageModel model = slow_cluster(8);
  model.bytes *= 4;
  model.cluster.shared_rate = 1e9;
  model.cluster.shared_node_rate = 10e6;
  const StageForecast sound = simulate_stage(model);
  model.planner = only_the_first_reads();
  const StageForecast broken = simulate_stage(model);
  EXPECT_EQ(sound.readers, 8U);
  EXPECT_EQ(broken.readers, 1U);
  EXPECT_GE(broken.seconds, static_cast<double>(model.bytes) / 10e6);
  EXPECT_GE(broken.seconds, 2 * sound.seconds);
  EXPECT_EQ(broken.bytes_from_shared, model.bytes);
}

// A small asset on many nodes: depth is what counts, and a chain is as deep as it is long.
TEST(Simulate, AChainInPlaceOfTreesIsSlowerByItsLength) {
  StageModel model = slow_cluster(128);
  model.bytes = 4 * one_mib;
  model.cluster.shared_rate = 1e12;
  const double part = ExchangeRules::for_pieces(4).part_bytes() / 40e6;  // is passed on as soon as it is here
  const StageForecast sound = simulate_stage(model);
  model.planner = chain(128);
  const StageForecast broken = simulate_stage(model);
  EXPECT_GE(broken.seconds, 126 * part);
  EXPECT_LE(sound.seconds, 50 * part);
  EXPECT_EQ(broken.bytes_from_peers, sound.bytes_from_peers);
}

TEST(Simulate, APlannerThatForgetsANodeIsAnError) {
  StageModel model = slow_cluster(4);
  model.planner.hops = [](const Plan& plan, unsigned, std::size_t piece) {
    auto hops = plan.hops(piece);
    std::erase_if(hops, [](const Hop& hop) { return hop.member == 2; });
    return hops;
  };
  EXPECT_THROW(static_cast<void>(simulate_stage(model)), Error);
}

TEST(Simulate, ALongRowIsExtrapolatedFromAShorterOne) {
  StageModel model = slow_cluster(40);
  model.bytes = 6000 * 4 * one_mib;
  model.files = 6000;
  model.cluster.shared_rate = 100e6;
  model.readers_max = 8;
  const StageForecast whole = simulate_stage(model);
  ASSERT_EQ(whole.pieces_simulated, 6000U);
  model.deliveries_max = 40 * 300;
  const StageForecast part = simulate_stage(model);
  EXPECT_EQ(part.pieces_simulated, 300U);
  EXPECT_EQ(part.pieces, 6000U);
  EXPECT_NEAR(part.seconds, whole.seconds, 0.05 * whole.seconds);
  EXPECT_EQ(part.bytes_from_shared, model.bytes);
  EXPECT_EQ(part.bytes_from_peers, whole.bytes_from_peers);
}

TEST(Simulate, ManySmallFilesCostWhatOpeningThemTakes) {
  StageModel model = slow_cluster(2);
  model.bytes = 64 * one_mib;
  model.files = 4096;  // of 16 KiB: 16 pieces
  model.cluster.shared_rate = 1e12;
  model.cluster.link_in_rate = model.cluster.link_out_rate = 1e12;
  model.cluster.open = 0.001;
  const StageForecast forecast = simulate_stage(model);
  EXPECT_EQ(forecast.pieces, 16U);
  EXPECT_NEAR(forecast.seconds, 4096 * 0.001 / 4, 0.1);  // two nodes of two threads
}

TEST(Simulate, IsTheSameEachTime) {
  StageModel model = slow_cluster(100);
  model.cluster.latency = 1e-5;
  EXPECT_EQ(simulate_stage(model).seconds, simulate_stage(model).seconds);
}

TEST(Simulate, ThousandsOfNodesAndTerabytes) {
  StageModel model = slow_cluster(3'000);
  model.bytes = 5'100'000'000'000;
  model.files = 524'288;
  model.deliveries_max = 1;  // the shortest row there is
  const StageForecast forecast = simulate_stage(model);
  EXPECT_GE(forecast.seconds, at_least(model));
  EXPECT_LE(forecast.seconds, 1.1 * at_least(model));
  EXPECT_EQ(forecast.bytes_from_shared, model.bytes);
  EXPECT_EQ(forecast.bytes_from_peers, model.bytes * 2'999);
}

TEST(Simulate, RefusesWhatMakesNoSense) {
  for (const auto& [nodes, bytes, files] : std::vector<std::tuple<unsigned, std::uint64_t, std::uint64_t>>{
           {0, 1, 1}, {20'001, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1, 1, 2}, {20'000, std::uint64_t{1} << 50U, 1}}) {
    StageModel model = slow_cluster(nodes);
    model.bytes = bytes;
    model.files = files;
    EXPECT_THROW(static_cast<void>(simulate_stage(model)), Error) << nodes << " " << bytes << " " << files;
  }
}

TEST(Simulate, CurveDoublesAndEndsWhereAsked) {
  EXPECT_EQ(nodes_of_curve(1), (std::vector{1U}));
  EXPECT_EQ(nodes_of_curve(4), (std::vector{1U, 2U, 4U}));
  EXPECT_EQ(nodes_of_curve(9), (std::vector{1U, 2U, 4U, 8U, 9U}));
}

TEST(Measured, StagingsAreWholeFacts) {
  for (const MeasuredStaging& one : measured_stagings()) {
    EXPECT_GT(one.nodes, 0U);
    EXPECT_FALSE(one.method.empty());
    if (one.seconds_min > 0) {
      EXPECT_LE(one.seconds_min, one.seconds_median);
      EXPECT_LE(one.seconds_median, one.seconds_max);
    }
  }
}

}  // namespace
}  // namespace sabath::test
