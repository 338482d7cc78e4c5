// Small text functions that several folders need.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

[[nodiscard]] std::string format_bytes(std::uint64_t bytes);  // "5.94 GB": decimal, three digits
[[nodiscard]] std::string format_duration(double seconds);    // "21 m 04 s"
[[nodiscard]] std::string to_hex(std::span<const std::uint8_t> bytes);
[[nodiscard]] std::string to_lower(std::string_view text);
[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] std::optional<std::uint64_t> try_whole_number(std::string_view digits);  // nothing but decimal digits
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);  // "10", "4k" = 4000, "2.5MiB", "1GB"
// One word of a POSIX shell, for commands in hints: in quotes where it must be, and nothing in it that a terminal
// obeys.
[[nodiscard]] std::string shell_word(std::string_view text);
// The candidate nearest to `word` without regard to case (edit distance at most a third of its length, a swap of two
// neighbours counts once), or nullopt. The first of equals.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);
[[nodiscard]] bool is_utf8(std::string_view text);
// Length of the well-formed UTF-8 sequence at the front (Unicode 15, table 3-7); 0 if there is none.
[[nodiscard]] std::size_t utf8_sequence(std::string_view text) noexcept;
// True if the text begins with a control character: C0, DEL, or C1 in its UTF-8 form.
[[nodiscard]] bool begins_with_control(std::string_view text) noexcept;

template <std::size_t N>
[[nodiscard]] bool is_among(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace sabath
