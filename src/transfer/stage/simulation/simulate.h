// How long it would take to stage an asset to N nodes: the real planner (stage/plan/plan.h, stage/plan/trees.h,
// stage/plan/tape.h) and the exchange's rules, in virtual time over a model of the machine. docs/simulation.md says
// what the model has and what it leaves out. Pure; any thread. Throws Error{usage} for what cannot be simulated.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "stage/simulation/simulated_exchange.h"

namespace sabath {

// Replaced only where a test wants a planner that errs.
struct Planner {
  std::function<std::vector<unsigned>(const std::vector<unsigned>& able, unsigned readers_max)> choose = choose_readers;
  decltype(SimulatedExchange::hops) hops;  // empty: the plan's
};

struct StageModel {
  static constexpr unsigned nodes_max = 20'000;
  unsigned nodes = 1;
  std::uint64_t bytes = 0, files = 1;  // of the asset, replicated; files of one size
  unsigned readers_max = 64;
  ExchangeThreads threads;
  ClusterModel cluster;
  Planner planner;
  std::uint64_t deliveries_max = std::uint64_t{1} << 20U;  // pieces that come to nodes in one run, about
};

struct StageForecast {
  unsigned nodes = 0, readers = 0;
  double seconds = 0;
  std::uint64_t bytes_from_shared = 0, bytes_from_peers = 0;
  std::uint64_t pieces = 0, pieces_simulated = 0;  // fewer: the rest is extrapolated
};

void check_stage_model(const StageModel& model);  // throws what simulate_stage() would
[[nodiscard]] StageForecast simulate_stage(const StageModel& model);

// 1, 2, 4, ... and the last.
[[nodiscard]] std::vector<unsigned> nodes_of_curve(unsigned nodes_max);
// For each of these numbers of nodes up to the model's, side by side on all processors. Throws Error{interrupted}.
[[nodiscard]] std::vector<StageForecast> simulate_curve(const StageModel& model, const std::stop_token& stop);

}  // namespace sabath
