#include "fetch/hosts/rate_limit.h"

#include <algorithm>
#include <condition_variable>

namespace sabath {

void RateLimiter::take(std::uint64_t bytes, std::stop_token stop) {
  const std::uint64_t rate = rate_;
  if (rate == 0) return;
  Clock::time_point until;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    const auto cost = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(static_cast<double>(bytes) / static_cast<double>(rate)));
    free_at_ = std::max(free_at_, now - std::chrono::milliseconds(100)) + cost;  // a tenth of a second may be saved up
    until = free_at_;
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  if (left.count() > 0) sleep_unless_stopped(left, stop);
}

bool sleep_unless_stopped(std::chrono::milliseconds duration, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, stop, duration, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace sabath
