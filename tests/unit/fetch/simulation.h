// Transfers of one file in virtual time: sources and a link that are arithmetic, and the real Schedule and
// ConnectionPolicy, driven as lanes drive them. One thread, no clock, no sockets; a case takes well under a
// millisecond.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace sabath::test {

inline constexpr double never = std::numeric_limits<double>::infinity();

struct SimulatedSource {
  double rate = 12.5e6;          // bytes a second of all its connections
  double round_trip = 0.02;      // seconds; a request waits one, and `think` ...
  double think = 0;              // ... seconds at the server
  double connect_trips = 3;      // round trips before the first request of a connection (TCP, TLS)
  double window = 6 << 20;       // bytes in flight of one connection at most
  double first_window = 14'600;  // and at first: doubled each round trip
  double stalls = 0;             // a second and connection: nothing comes for `stall_s`, then half the window
  double stall_s = 0.3;
  double dies_at = never;    // connections are reset, and refused from then on
  double silent_at = never;  // nothing comes any more, and nothing is said
  double lies = 0;           // part of the chunks that are wrong
  unsigned accepts = 1000;   // connections; one more is told 429
  double ready_at = 0;       // requests before are told 503, Retry-After: what is left
};

struct SimulatedCase {
  std::uint64_t seed = 1;
  std::uint64_t size_bytes = 64 << 20, chunk_bytes = 4 << 20;
  double link_rate = 125e6;  // bytes a second of the client
  unsigned lanes_max = 64, connections_max = 16;
  bool in_order = false;
  double timeout_s = 30;  // a connection that brings nothing for so long has failed
  std::vector<SimulatedSource> sources;
};

struct SimulatedResult {
  std::string fault;  // the first rule that was broken, or empty
  bool complete = false;
  double seconds = 0;
  std::uint64_t bytes_redone = 0;  // of chunks that were wrong
  unsigned requests = 0, splits = 0;
  std::vector<unsigned> targets;       // connections of each source in the end
  std::vector<std::string> decisions;  // reasons, when asked for
};

[[nodiscard]] SimulatedResult simulate(const SimulatedCase& setting, bool log = false);

// Seconds of the best that any client could do: connections_max connections to each source are opened at 0, none waits
// for a request but its first, all share what there is to read without a gap. It sees the same connecting, slow start
// and windows, and what dies, falls silent or lies serves until then, or not at all.
[[nodiscard]] double ideal_seconds(const SimulatedCase& setting);

[[nodiscard]] std::string describe(const SimulatedCase& setting);

}  // namespace sabath::test
