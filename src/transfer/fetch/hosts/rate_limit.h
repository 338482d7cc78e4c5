// A token bucket for the bytes of all lanes. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <stop_token>

namespace sabath {

class RateLimiter {
 public:
  explicit RateLimiter(std::uint64_t bytes_per_second) : rate_(bytes_per_second) {}  // 0: no limit
  // Returns when `bytes` more may have been received; early on a stop request.
  void take(std::uint64_t bytes, std::stop_token stop);
  [[nodiscard]] bool limits() const { return rate_ != 0; }
  void set_rate(std::uint64_t bytes_per_second) { rate_ = bytes_per_second; }  // from the next take() on

 private:
  using Clock = std::chrono::steady_clock;
  std::atomic<std::uint64_t> rate_;
  std::mutex mutex_;
  Clock::time_point free_at_ = Clock::now();
};

// Sleeps for `duration`; false if a stop request ended it.
bool sleep_unless_stopped(std::chrono::milliseconds duration, std::stop_token stop);

}  // namespace sabath
