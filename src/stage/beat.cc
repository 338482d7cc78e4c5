#include "stage/beat.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sabath/error.h"

namespace sabath {

bool Beat::poll(const Words& mine) {
  if (!pending_) {
    if (Clock::now() < next_) return false;
    values_ = std::bit_cast<std::array<std::uint64_t, word_count>>(mine);
    pending_ = comm_.begin_all_reduce(values_, Reduction::sum);
    looked_ = Clock::now();
    waited_ = {};
  }
  if (!pending_->done()) {
    check_silence();
    return false;
  }
  pending_.reset();
  sums_ = std::bit_cast<Words>(values_);
  next_ = Clock::now() + rest_;
  rest_ = std::min<Clock::duration>(rest_ + rest_ / 2, rest_max);
  return true;
}

// A process that was stopped and goes on finds hours gone: only the time in which it looked counts.
void Beat::check_silence() {
  const auto now = Clock::now();
  waited_ += std::min<Clock::duration>(now - looked_, std::chrono::milliseconds(100));
  looked_ = now;
  if (waited_ <= silence_max) return;
  throw Error(
      FailureKind::nodes,
      fmt::format("{} waits for another node, which has not answered for {} s", comm_.host(), silence_max.count()),
      "a process or a node is gone: run the same command again, what is verified is kept");
}

}  // namespace sabath
