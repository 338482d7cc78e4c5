// The time of day, for records. Durations are measured by steady_clock.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>

namespace sabath {

[[nodiscard]] inline double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The same as a whole number of nanoseconds, milliseconds, seconds.
template <class Unit = std::chrono::nanoseconds>
[[nodiscard]] inline std::int64_t unix_time() {
  return std::chrono::duration_cast<Unit>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Of a time in seconds; 0 for a value that is no time.
[[nodiscard]] inline std::int64_t to_milliseconds(double seconds) {
  constexpr double far = 4e12;
  return std::abs(seconds) < far ? static_cast<std::int64_t>(std::llround(seconds * 1000)) : 0;
}

}  // namespace sabath
