// Small text functions that several folders need.
#pragma once

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
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);  // "10", "4k", "2.5MiB", "1GB"
// The candidate nearest to `word` (edit distance at most a third of its length), or nullopt.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace sabath
