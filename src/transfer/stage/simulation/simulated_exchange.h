// The exchange of stage/exchange.h in virtual time: the same plans, the same rules of how much each member may send and
// receive at once, and a model of the shared filesystem, the links and the disks instead of real ones. Nothing is read
// or sent. Pure: the same for the same input. Throws Error{internal} if the plans do not bring every piece to all
// members that lack it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "stage/exchange.h"
#include "stage/plan/plan.h"
#include "stage/plan/tape.h"

namespace sabath {

// Rates in bytes a second, times in seconds. Unknown values cost nothing.
struct ClusterModel {
  static constexpr double unlimited = std::numeric_limits<double>::infinity();
  double shared_rate = unlimited;                              // of the shared filesystem, for all nodes together
  double shared_node_rate = unlimited;                         // of it, for one node
  double link_in_rate = unlimited, link_out_rate = unlimited;  // of each node
  double disk_rate = unlimited;                                // of each node, writing
  double hash_rate = unlimited;                                // of one thread
  double latency = 0;                                          // of a message
  double open = 0;                                             // of one file on the shared filesystem
  double create = 0;                                           // of one file on a node
};

struct SimulatedExchange {
  std::span<const Plan> plans;  // of each member
  const Tape& tape;
  const ClusterModel& cluster;
  ExchangeThreads threads;
  std::uint64_t read_size = 256 * 1024;  // reads that go on side by side share the filesystem in steps of this
  ExchangeRules rules{};
  // The hops of a member that has a piece; replaced only where a test wants a planner that errs.
  std::function<std::vector<Hop>(const Plan& plan, unsigned member, std::size_t piece)> hops =
      [](const Plan& plan, unsigned, std::size_t piece) { return plan.hops(piece); };
};

struct ExchangeForecast {
  double seconds = 0;
  std::uint64_t shared_bytes = 0, peer_bytes = 0;
};

[[nodiscard]] ExchangeForecast simulate_exchange(const SimulatedExchange& exchange);

}  // namespace sabath
