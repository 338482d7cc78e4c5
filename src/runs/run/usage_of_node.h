// Figures of this node and of one process tree from /proc: totals since the start of the machine or of the processes.
// Any thread; a figure that cannot be read is zero.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace sabath {

struct NodeUsage {
  double cpu_busy_s = 0, cpu_all_s = 0;  // of all processors together
  std::uint64_t memory_bytes = 0;        // in use
  std::uint64_t disk_read_bytes = 0, disk_written_bytes = 0, network_received_bytes = 0, network_sent_bytes = 0;
};
[[nodiscard]] NodeUsage usage_of_node();

struct TreeUsage {
  unsigned processes = 0;
  double cpu_s = 0;                // of those that live, and of the children that they have waited for
  std::uint64_t memory_bytes = 0;  // resident; shared pages count in each
};
// Its parent, and its start in ticks since the machine's start; nullopt: there is no such process (any more).
struct Origin {
  pid_t parent = 0;
  std::uint64_t start = 0;
};
[[nodiscard]] std::optional<Origin> try_origin(pid_t process);

[[nodiscard]] TreeUsage usage_below(pid_t root);  // its descendants, without itself

}  // namespace sabath
