// Numbers as logs write them. Pure; any thread; no throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sabath {

// The whole of `text` as a number: "0.5", "7.9952e-07", "+1", ".5", "1.", "nan", "nan.0", "-inf", "Infinity".
[[nodiscard]] std::optional<double> try_number(std::string_view text) noexcept;

// The number at the front, and how many bytes it takes; 0 bytes: none.
struct NumberPrefix {
  double value = 0;
  std::size_t length = 0;
};
[[nodiscard]] NumberPrefix number_prefix(std::string_view text) noexcept;

// The whole of `text` as an integer: "12", "-3", "12.0".
[[nodiscard]] std::optional<std::int64_t> try_integer(std::string_view text) noexcept;

}  // namespace sabath
