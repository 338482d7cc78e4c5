#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t word_length_max = 256;  // edit distance is quadratic: longer words get no suggestion

std::uint8_t byte_at(std::string_view text, std::size_t i) { return static_cast<std::uint8_t>(text[i]); }

// Optimal string alignment distance, or limit + 1 when it is larger.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
  if ((a.size() > b.size() ? a.size() - b.size() : b.size() - a.size()) > limit) return limit + 1;
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, row);
  }
  return std::min(previous[b.size()], limit + 1);
}

// Factor of a unit such as "k", "KB", "MiB"; 0 if there is no such unit.
std::uint64_t unit_factor(std::string_view unit) {
  if (unit.empty() || unit == "b") return 1;
  constexpr std::string_view prefixes = "kmgtpe";
  const std::size_t power = prefixes.find(unit[0]);
  const std::string_view rest = unit.substr(1);
  const bool binary = rest == "i" || rest == "ib";
  if (power == std::string_view::npos || !(binary || rest.empty() || rest == "b")) return 0;
  std::uint64_t factor = 1;
  for (std::size_t i = 0; i <= power; ++i) factor *= binary ? 1024 : 1000;
  return factor;
}

}  // namespace

std::optional<std::uint64_t> try_whole_number(std::string_view digits) {
  std::uint64_t value = 0;
  const char* const after = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), after, value);
  if (digits.empty() || error != std::errc() || end != after) return std::nullopt;
  return value;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array units{"kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {  // 999.5 would print as 1000
    value /= 1000;
    ++unit;
  }
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

std::string format_duration(double seconds) {
  if (!(seconds >= 0) || seconds > 1e12) return "?";
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} m {:02} s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{} h {:02} m", whole / 3600, whole / 60 % 60);
  return fmt::format("{} d {:02} h", whole / 86400, whole / 3600 % 24);
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const std::string lower = to_lower(trim(text));
  std::uint64_t whole = 0;
  const char* const end = lower.data() + lower.size();
  auto [after, error] = std::from_chars(lower.data(), end, whole);
  if (error != std::errc{}) return std::nullopt;
  double fraction = 0;
  if (after != end && *after == '.') {
    double weight = 0.1;
    for (++after; after != end && is_digit(*after); ++after, weight /= 10) fraction += (*after - '0') * weight;
    if (after[-1] == '.') return std::nullopt;
  }
  const std::uint64_t factor = unit_factor(trim({after, static_cast<std::size_t>(end - after)}));
  std::uint64_t size = 0;
  if (factor == 0 || (factor == 1 && fraction != 0) || __builtin_mul_overflow(whole, factor, &size))
    return std::nullopt;
  const auto part = static_cast<std::uint64_t>(std::llround(fraction * static_cast<double>(factor)));
  if (__builtin_add_overflow(size, part, &size)) return std::nullopt;
  return size;
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  if (word.size() > word_length_max) return std::nullopt;
  const std::string wanted = to_lower(word);
  std::size_t best_distance = word.size() / 3 + 1;
  const std::string* best = nullptr;
  for (const std::string& candidate : candidates) {
    const std::size_t found = distance(wanted, to_lower(candidate), best_distance - 1);
    if (found >= best_distance) continue;
    best = &candidate;
    best_distance = found;
    if (found == 0) break;
  }
  return best != nullptr ? std::optional(*best) : std::nullopt;
}

std::size_t utf8_sequence(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const std::uint8_t first = byte_at(text, 0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                             : first >= 0xE0 && first <= 0xEF ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0 || text.size() < length) return 0;
  // The second byte's range excludes overlong forms, surrogates and what lies beyond U+10FFFF.
  const std::uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte_at(text, 1) < low || byte_at(text, 1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte_at(text, i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

bool begins_with_control(std::string_view text) noexcept {
  if (text.empty()) return false;
  const std::uint8_t first = byte_at(text, 0);
  return first < 0x20 || first == 0x7F ||
         (first == 0xC2 && text.size() > 1 && byte_at(text, 1) >= 0x80 && byte_at(text, 1) <= 0x9F);
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string shell_word(std::string_view text) {
  constexpr std::size_t shown_max = 4096;
  const std::string shown = printable(text, shown_max);
  const bool plain = !shown.empty() && shown.front() != '-' && std::ranges::all_of(shown, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("_@%+:,./-").find(c) != std::string_view::npos;
  });
  if (plain) return shown;
  std::string word = shown.starts_with('-') ? "./'" : "'";
  for (const char c : shown) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace sabath
