#include "base/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "base/text.h"

namespace sabath {
namespace {

struct Word {
  std::string_view text;  // lower case
  double value;
};
constexpr std::array words{Word{"nan", std::numeric_limits<double>::quiet_NaN()},
                           Word{"infinity", std::numeric_limits<double>::infinity()},
                           Word{"inf", std::numeric_limits<double>::infinity()}};

struct Factor {
  std::string_view text;
  double scale;
};
constexpr std::array times{Factor{"ns", 1e-9},    Factor{"us", 1e-6},    Factor{"\xc2\xb5s", 1e-6},
                           Factor{"ms", 1e-3},    Factor{"s", 1},        Factor{"sec", 1},
                           Factor{"secs", 1},     Factor{"second", 1},   Factor{"seconds", 1},
                           Factor{"min", 60},     Factor{"mins", 60},    Factor{"minutes", 60},
                           Factor{"h", 3600},     Factor{"hr", 3600},    Factor{"hrs", 3600},
                           Factor{"hours", 3600}, Factor{"days", 86400}, Factor{"%", 1},
                           Factor{"x", 1},        Factor{"fps", 1}};
constexpr std::array scales{Factor{"k", 1e3}, Factor{"K", 1e3}, Factor{"M", 1e6}, Factor{"G", 1e9}, Factor{"T", 1e12}};
constexpr std::array binary_scales{Factor{"Ki", 0x1p10}, Factor{"Mi", 0x1p20}, Factor{"Gi", 0x1p30},
                                   Factor{"Ti", 0x1p40}};
// Words for things that are counted, behind a scale or without one.
constexpr std::array<std::string_view, 27> nouns{"it",      "its",      "iter", "iters",  "step",   "steps",   "batch",
                                                 "batches", "ex",       "ep",   "epochs", "tok",    "toks",    "token",
                                                 "tokens",  "img",      "imgs", "image",  "images", "samples", "sample",
                                                 "samp",    "examples", "px",   "Hz",     "W",      "rows"};
constexpr std::array<std::string_view, 10> scaled_nouns{"B",     "b",     "iB",    "bit",  "bits",
                                                        "FLOPs", "FLOPS", "flops", "FLOP", "bps"};

template <std::size_t N>
const Factor* unit_of(std::string_view word, const std::array<Factor, N>& units) {
  const auto found = std::find_if(units.begin(), units.end(), [&](const Factor& unit) { return unit.text == word; });
  return found == units.end() ? nullptr : &*found;
}

bool is_digit_at(std::string_view text, std::size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

bool is_unit_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '%' || static_cast<unsigned char>(c) == 0xc2 ||
         static_cast<unsigned char>(c) == 0xb5;
}

// "Kit", "MB", "GiB", "k".
std::optional<double> scale_of(std::string_view word) {
  for (const auto& [text, scale] : binary_scales) {
    const std::string_view rest = word.starts_with(text) ? word.substr(text.size()) : "-";
    if (rest.empty() || rest == "B" || rest == "b") return scale;
  }
  for (const auto& [text, scale] : scales) {
    if (!word.starts_with(text)) continue;
    const std::string_view rest = word.substr(text.size());
    if (rest.empty() || is_among(rest, nouns) || is_among(rest, scaled_nouns)) return scale;
  }
  return std::nullopt;
}

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

PrintedNumber printed_number(std::string_view text, bool grouped) noexcept {
  const NumberPrefix plain = number_prefix(text);
  if (plain.length == 0) return {};
  const char mark = plain.length < text.size() ? text[plain.length] : ' ';
  if (!is_digit_at(text, plain.length + 1) || std::string_view(",._'").find(mark) == std::string_view::npos)
    return {plain.value, plain.length, false};
  if (mark == '.') return {};  // a version, a date, or groups with points between them
  const PrintedNumber doubtful{0, 0, mark == ','};
  // One to three digits, and then groups of three.
  constexpr std::size_t digits_max = 32;
  const std::size_t sign = text.front() == '-' || text.front() == '+' ? 1 : 0;
  std::array<char, 2 * digits_max> digits{};
  std::size_t count = 0, at = sign, groups = 0;
  while (is_digit_at(text, at) && count < digits_max) digits[count++] = text[at++];
  if (at != plain.length || count > 3 || digits[0] == '0') return doubtful;
  for (; at < text.size() && text[at] == mark && is_digit_at(text, at + 1); ++groups) {
    ++at;
    const std::size_t begin = count;
    while (is_digit_at(text, at) && count < digits_max) digits[count++] = text[at++];
    if (count - begin != 3) return doubtful;
  }
  const bool point = at < text.size() && text[at] == '.' && is_digit_at(text, at + 1);
  if (mark == ',' && groups == 1 && !point && !grouped) return doubtful;
  if (point) {
    digits[count++] = text[at++];
    while (is_digit_at(text, at) && count < digits.size()) digits[count++] = text[at++];
  }
  const char next = at < text.size() ? text[at] : ' ';
  if (is_digit_at(text, at) ||
      (std::string_view(",._'").find(next) != std::string_view::npos && is_digit_at(text, at + 1)))
    return doubtful;
  double value = 0;
  std::from_chars(digits.data(), digits.data() + count, value);
  return {text.front() == '-' ? -value : value, at, false};
}

bool writes_points(std::string_view line) noexcept {
  for (std::size_t at = line.find('.'); at != std::string_view::npos; at = line.find('.', at + 1)) {
    if (at == 0 || !is_digit_at(line, at - 1) || !is_digit_at(line, at + 1)) continue;
    std::size_t begin = at, end = at + 1;
    while (begin > 0 && is_digit_at(line, begin - 1)) --begin;
    while (is_digit_at(line, end)) ++end;
    const bool more = is_digit_at(line, end + 1) && (line[end] == '.' || line[end] == ',');
    if (!more && (begin < 2 || line[begin - 1] != '.' || !is_digit_at(line, begin - 2))) return true;
  }
  return false;
}

std::optional<UnitPrefix> unit_prefix(std::string_view text) noexcept {
  constexpr std::size_t length_max = 24;
  std::size_t length = 0, slash = 0;
  while (length < text.size() && (is_unit_letter(text[length]) || (text[length] == '/' && length > 0))) {
    if (text[length] == '/' && slash == 0) slash = length;
    if (++length > length_max) return std::nullopt;
  }
  if (length == 0) return UnitPrefix{};
  const std::string_view word = text.substr(0, slash == 0 ? length : slash);
  if (const Factor* const time = unit_of(word, times)) return UnitPrefix{time->scale, length};
  if (const auto scale = scale_of(word)) return UnitPrefix{*scale, length};
  // Things counted, or any word a second ("x/s"): scale 1. A capital in front of such a word may be a scale.
  if (is_among(word, nouns) || (slash > 1 && word.front() >= 'a')) return UnitPrefix{1, length};
  return std::nullopt;
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
