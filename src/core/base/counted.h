// How many there are of something, for people. Any thread.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace sabath {

// "1 file", "2 files"; `many`: the plural that is not made by an "s".
[[nodiscard]] inline std::string counted(std::uint64_t count, std::string_view one, std::string_view many = {}) {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, many);
}

}  // namespace sabath
