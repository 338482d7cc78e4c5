#include "metrics/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace sabath {
namespace {

struct Word {
  std::string_view text;  // lower case
  double value;
};
constexpr std::array words{Word{"nan", std::numeric_limits<double>::quiet_NaN()},
                           Word{"infinity", std::numeric_limits<double>::infinity()},
                           Word{"inf", std::numeric_limits<double>::infinity()}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool begins_with_word(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) { return a == lower(b); });
}

NumberPrefix word_prefix(std::string_view text) {
  for (const auto& [word, value] : words) {
    if (!begins_with_word(text, word)) continue;
    std::size_t length = word.size();
    // A format of at least one digit makes "nan.0" of nan.
    if (text.substr(length).starts_with(".0")) length += 2;
    return {value, length};
  }
  return {};
}

}  // namespace

NumberPrefix number_prefix(std::string_view text) noexcept {
  const bool negative = text.starts_with('-');
  const std::size_t sign = negative || text.starts_with('+') ? 1 : 0;
  const std::string_view digits = text.substr(sign);
  if (digits.empty()) return {};
  NumberPrefix prefix;
  if ((digits[0] >= '0' && digits[0] <= '9') || digits[0] == '.') {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix.value);
    if (error == std::errc::invalid_argument) return {};
    prefix.length = static_cast<std::size_t>(end - digits.data());
    if (error == std::errc::result_out_of_range) {
      const bool small = digits.substr(0, prefix.length).find_first_of("eE") != std::string_view::npos &&
                         digits.substr(0, prefix.length).find('-') != std::string_view::npos;
      prefix.value = small ? 0 : std::numeric_limits<double>::infinity();
    }
  } else {
    prefix = word_prefix(digits);
    if (prefix.length == 0) return {};
  }
  if (negative) prefix.value = -prefix.value;
  prefix.length += sign;
  return prefix;
}

std::optional<double> try_number(std::string_view text) noexcept {
  const NumberPrefix prefix = number_prefix(text);
  if (prefix.length == 0 || prefix.length != text.size()) return std::nullopt;
  return prefix.value;
}

std::optional<std::int64_t> try_integer(std::string_view text) noexcept {
  std::int64_t integer = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
  if (error == std::errc{} && end == text.data() + text.size()) return integer;
  const auto number = try_number(text);
  if (!number || std::abs(*number) > 9e15 || std::trunc(*number) != *number) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

}  // namespace sabath
