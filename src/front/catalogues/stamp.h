// The time, as catalogues write it. Any thread.
#pragma once

#include <fmt/chrono.h>

#include <chrono>
#include <string>

namespace sabath {

[[nodiscard]] inline std::string time_text() {  // "2026-11-28T12:00:00Z"
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

}  // namespace sabath
