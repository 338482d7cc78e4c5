#include "metrics/words.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/number.h"
#include "metrics/char_set.h"

namespace sabath {
namespace {

bool same_word(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
         });
}

// "1:02" or "00:03:12" behind the first number.
std::optional<double> take_clock(std::string_view& text, double first) {
  double seconds = first;
  while (text.size() >= 3 && text[0] == ':' && is_digit(text[1]) && is_digit(text[2])) {
    text.remove_prefix(1);
    const auto part = take_number(text);
    if (!part) return std::nullopt;
    seconds = seconds * 60 + *part;
  }
  return seconds;
}

}  // namespace

std::optional<double> take_number(std::string_view& text, bool grouped) noexcept {
  const PrintedNumber number = printed_number(text, grouped);
  if (number.length == 0) return std::nullopt;
  text.remove_prefix(number.length);
  return number.value;
}

Quantity take_quantity(std::string_view& text, bool grouped) noexcept {
  constexpr CharSet behind(" ,;|)]}\t");
  const PrintedNumber number = printed_number(text, grouped);
  if (number.length == 0) return {0, false, number.doubtful};
  std::string_view rest = text.substr(number.length);
  auto unit = unit_prefix(rest);
  if (!unit || (unit->length < rest.size() && !behind.has(rest[unit->length]))) return {};
  if (unit->length == 0 && rest.starts_with(' ')) {
    // "12.5 MB": a unit that scales and stands alone belongs to the number as well.
    const auto apart = unit_prefix(rest.substr(1));
    const std::size_t end = apart ? apart->length + 1 : 0;
    const bool alone = end == rest.size() || (end < rest.size() && behind.has(rest[end]) && rest[end] != ' ');
    if (apart && apart->length > 1 && alone) unit = {apart->scale, end};
  }
  rest.remove_prefix(unit->length);
  text = rest;
  return {number.value * unit->scale, true, false};
}

std::optional<double> take_count(std::string_view& text) noexcept {
  std::size_t length = 0;
  double value = 0;
  while (length < text.size() && is_digit(text[length])) value = value * 10 + (text[length++] - '0');
  if (length == 0 || length > 18) return std::nullopt;
  text.remove_prefix(length);
  return value;
}

std::optional<double> take_duration(std::string_view& text) noexcept {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  std::string_view rest = text;
  const auto number = take_number(rest);
  if (!number) return std::nullopt;
  std::optional<double> seconds;
  if (rest.starts_with(':')) {
    seconds = take_clock(rest, *number);
  } else if (take_word(rest, "ms")) {
    seconds = *number / 1e3;
  } else if (take_word(rest, "us")) {
    seconds = *number / 1e6;
  } else if (take_word(rest, "s")) {
    seconds = number;
  }
  if (seconds) text = rest;
  return seconds;
}

std::optional<EpochWords> take_epoch(std::string_view& text) noexcept {
  std::string_view rest = text;
  const bool outside = take_word(rest, "[");
  if (rest.size() < 6 || !same_word(rest.substr(0, 5), "epoch")) return std::nullopt;
  rest.remove_prefix(5);
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == ':' || rest.front() == '=' || rest.front() == '#'))
    rest.remove_prefix(1);
  const bool inside = !outside && take_word(rest, "[");
  skip_blanks(rest);
  EpochWords words;
  const bool whole = !rest.empty() && is_digit(rest.front());
  const auto epoch = take_number(rest);
  if (!whole || !epoch || !std::isfinite(*epoch)) return std::nullopt;
  words.epoch = *epoch;
  std::string_view behind = rest;
  skip_blanks(behind);
  if (take_word(behind, "/") || take_word(behind, "of ")) {
    skip_blanks(behind);
    if ((words.total = take_count(behind))) rest = behind;
  }
  if ((inside || outside) && !take_word(rest, "]")) return std::nullopt;
  if (!rest.empty() && (is_letter(rest.front()) || rest.front() == '/' || rest.front() == '_')) return std::nullopt;
  text = rest;
  return words;
}

char position_of_name(std::string_view name) noexcept {
  struct Known {
    std::string_view name;
    char position;
  };
  static constexpr std::array known{Known{"epoch", 'e'},       Known{"epoch_num", 'e'}, Known{"step", 's'},
                                    Known{"global_step", 's'}, Known{"step_num", 's'},  Known{"batch", 's'},
                                    Known{"iteration", 's'},   Known{"iter", 's'},      Known{"rank", 'r'}};
  for (const Known& one : known) {
    if (same_word(name, one.name)) return one.position;
  }
  return '\0';
}

}  // namespace sabath
