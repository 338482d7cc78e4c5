// How long the exchange's thread sleeps between two looks. MPI moves bytes only while it is called, and a message of a
// mebibyte may need many calls at both ends. So the time between looks is a sixteenth of the time between moves, and
// longer where nothing moves. On a fast wire that is some 30 us, on a slow one a millisecond. (Spinning brought
// nothing more: 16 cores, 2 and 4 nodes, by shared memory and TCP; where cores are scarce it takes them from the
// threads that read and write.) Pure.
#pragma once

#include <algorithm>
#include <chrono>

namespace sabath {

class Attention {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Attention(Clock::time_point now) : moved_(now) {}

  // After a look in which something moved, or nothing did.
  [[nodiscard]] Clock::duration pause(bool moved, Clock::time_point now) {
    const Clock::duration waited = now - moved_;
    if (moved) {
      gap_ += (waited - gap_) / 4;
      moved_ = now;
      return {};
    }
    return std::clamp<Clock::duration>(std::max(gap_, waited) / 16, shortest, longest);
  }

  static constexpr std::chrono::microseconds shortest{30}, longest{1000};

 private:
  Clock::duration gap_{};  // from one thing that moved to the next, smoothed
  Clock::time_point moved_;
};

}  // namespace sabath
