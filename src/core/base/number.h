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

// The number at the front of a line's rest, as programs print it for people. What follows cannot belong to it: "0,25",
// "1.2.3" and "12,34" are none. Digits in groups of three are one ("1,234,567", "12,345.5", "1_234"); "12,345", which
// is 12.345 elsewhere, only where `grouped` says that this line writes decimals with a point.
struct PrintedNumber {
  double value = 0;
  std::size_t length = 0;  // 0: none
  bool doubtful = false;   // none, because its comma may mean either
};
[[nodiscard]] PrintedNumber printed_number(std::string_view text, bool grouped) noexcept;

// Does the line have a number with a decimal point, so that its commas are none?
[[nodiscard]] bool writes_points(std::string_view line) noexcept;

// The factor of the unit at the front, for the number before it, and the unit's length: "ms" 1e-3, "k" and "Kit/s" 1e3,
// "MiB" 2^20, "%" and "it/s" 1, "min" 60. nullopt: a word that is no unit, or has several meanings ("m", "B").
struct UnitPrefix {
  double scale = 1;
  std::size_t length = 0;
};
[[nodiscard]] std::optional<UnitPrefix> unit_prefix(std::string_view text) noexcept;

// The whole of `text` as an integer: "12", "-3", "12.0".
[[nodiscard]] std::optional<std::int64_t> try_integer(std::string_view text) noexcept;

}  // namespace sabath
