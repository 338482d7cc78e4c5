#include "metrics/pairs.h"

#include <algorithm>

#include "base/text.h"
#include "metrics/char_set.h"
#include "metrics/number.h"
#include "metrics/words.h"

namespace sabath {
namespace {

constexpr std::size_t name_length_max = 64;
constexpr std::ptrdiff_t name_blanks_max = 4;
constexpr CharSet in_names(" _-./@%()[]0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
constexpr CharSet behind_numbers(" ,;|)]}\t"), between_pairs(",;|\t{"), before_pairs(" ,:|;-\t)]"), separators(":=");

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > name_length_max || !(is_letter(text.front()) || text.front() == '_')) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return in_names.has(c) || static_cast<unsigned char>(c) >= 0x80; }) &&
         std::count(text.begin(), text.end(), ' ') <= name_blanks_max;
}

// Behind a number: its end, a unit, a total ("3/100"). Not the rest of a date, a clock, a version or a word.
bool ends_number(std::string_view& text, bool counts) {
  if (counts && text.size() > 1 && text[0] == '/' && is_digit(text[1])) {
    text.remove_prefix(1);
    (void)take_count(text);
  }
  if (text.empty()) return true;
  std::size_t unit = 0;
  while (unit < text.size() && (is_letter(text[unit]) || text[unit] == '%' || text[unit] == '/')) ++unit;
  if (unit > 8 || (unit > 0 && text.front() == '/')) return false;
  const char next = unit < text.size() ? text[unit] : ' ';
  if (!behind_numbers.has(next)) return false;
  text.remove_prefix(unit);
  return true;
}

// The name in front of the separator: behind the last thing that cannot be part of one.
std::string_view name_before(std::string_view text) {
  text = text.substr(text.size() - std::min(text.size(), 2 * name_length_max));
  std::size_t begin = between_pairs.last_in(text);
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  if (const std::size_t dash = text.rfind(" - "); dash != std::string_view::npos && dash + 3 > begin) begin = dash + 3;
  return trim(text.substr(begin));
}

std::string_view group_of(std::string_view text) {
  const std::size_t end = text.find('|');
  if (end == std::string_view::npos) return {};
  const std::string_view cell = trim(text.substr(0, end));
  return is_name(cell) && cell.find(' ') == std::string_view::npos ? cell : std::string_view{};
}

void add(std::string_view group, std::string_view name, double value, std::string_view digits, Reading& reading) {
  const char position = position_of_name(name);
  if (position == 'e' || position == 's') reading.place(position, value, digits);
  if (position == '\0' || position == 'r') reading.values.push_back({group, name, value});
}

}  // namespace

void take_pairs(std::string_view text, Reading& reading) {
  while (!text.empty() && before_pairs.has(text.front())) text.remove_prefix(1);
  const std::string_view group = group_of(text);
  std::string_view before = text;  // from the end of the last pair
  std::size_t at = 0;
  while ((at = separators.first_in(text, at)) != std::string_view::npos) {
    const std::size_t length = static_cast<std::size_t>(text.data() - before.data()) + at;
    const std::string_view name = name_before(before.substr(0, length));
    std::string_view rest = text.substr(at + 1);
    skip_blanks(rest);
    const std::string_view begin = rest;
    const auto value = take_number(rest);
    const std::string_view digits = begin.substr(0, begin.size() - rest.size());
    if (value && is_name(name) && ends_number(rest, position_of_name(name) == 's')) {
      add(group, name, *value, digits, reading);
      text = before = rest;
      at = 0;
    } else {
      ++at;
    }
  }
}

}  // namespace sabath
