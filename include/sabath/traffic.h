// What a read costs, counted.
#pragma once

#include <atomic>
#include <cstdint>

namespace sabath {

// Counted where it happens: every request sent (redirects too) and every body byte received.
struct Traffic {
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<unsigned> reaches{0};  // how near the hosts are that were asked: a bit for each Reach; 0: not known
};

}  // namespace sabath
