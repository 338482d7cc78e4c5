#include "report/letters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "base/text.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t text_bytes_max = 4096;
constexpr std::string_view ellipsis = "…";

// Of ' ' to '~' in DejaVu Sans, a thousandth of the font's size each; bold letters are up to a sixth wider.
constexpr std::array<std::uint16_t, 95> advances{
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};
constexpr double widest = 1.3, wide_letter = 1, plain_letter = 0.8, bold_factor = 1.16;

double advance_of(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first >= 32 && first < 127 ? advances.at(first - 32U) / 1000.0 : plain_letter;
  return character.size() == 2 && first < 0xCC ? plain_letter : character.size() < 4 ? wide_letter : widest;
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

// The text without what lies between these bytes.
std::string without_middle(const std::string& text, std::size_t begin, std::size_t end) {
  while (begin > 0 && continues(text[begin])) --begin;
  while (end < text.size() && continues(text[end])) ++end;
  std::string_view front = std::string_view(text).substr(0, begin), back = std::string_view(text).substr(end);
  if (front.ends_with(ellipsis)) front.remove_suffix(ellipsis.size());
  if (back.starts_with(ellipsis)) back.remove_prefix(ellipsis.size());
  return std::string(front).append(ellipsis).append(back);
}

std::size_t common_front(const std::vector<const std::string*>& names) {
  std::size_t length = 0;
  const std::string& one = *names.front();
  const auto same = [&](const std::string* other) { return length < other->size() && (*other)[length] == one[length]; };
  while (length < one.size() && std::ranges::all_of(names, same)) ++length;
  // Not within a word, so that "lr=0.1" and "lr=0.01" are not cut to "1" and "01".
  const auto in_word = [](char c) { return c != '_' && c != '-' && c != '/' && c != ' ' && c != ','; };
  while (length > 0 && (length == one.size() || in_word(one[length - 1]))) --length;
  return length;
}

}  // namespace

double text_width(std::string_view text, const Font& font) {
  double ems = 0;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(1, utf8_sequence(text));
    ems += advance_of(text.substr(0, length));
    text.remove_prefix(length);
  }
  return ems * font.size * (font.bold ? bold_factor : 1);
}

std::string cut_to_length(std::string_view text, std::size_t length_max) {
  const std::string clean = printable(text, text_bytes_max);
  if (clean.size() <= length_max) return clean;
  return without_middle(clean, length_max / 2, clean.size() - length_max / 2);
}

std::string cut_to_width(std::string_view text, double width_max, const Font& font) {
  std::string cut = printable(text, text_bytes_max);
  for (std::size_t length = cut.size(); length > 1 && text_width(cut, font) > width_max;) {
    length =
        std::min(length - 1, static_cast<std::size_t>(static_cast<double>(length) * width_max / text_width(cut, font)));
    cut = cut_to_length(text, length);
  }
  return cut;
}

std::vector<std::string> short_names(const std::vector<std::string>& names, std::size_t length_max) {
  std::map<std::string, std::vector<const std::string*>> alike;
  for (const std::string& name : names) alike[cut_to_length(name, length_max)].push_back(&name);
  std::vector<std::string> made;
  std::map<std::string, int> times;
  for (const std::string& name : names) {
    std::string shown = cut_to_length(name, length_max);
    const auto& group = alike[shown];
    if (shown != name && group.size() > 1) {
      const std::size_t front = common_front(group);
      shown = cut_to_length(
          std::string(front > 0 ? ellipsis : "").append(printable(name.substr(front), text_bytes_max)), length_max);
    }
    const int number = ++times[shown];
    made.push_back(number == 1 ? shown : fmt::format("{} ({})", shown, number));
  }
  return made;
}

std::string listed(const std::vector<std::string>& names, double width_max, const Font& font) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string rest = i + 1 < names.size() ? fmt::format(" and {} more", names.size() - i - 1) : "";
    const std::string longer = text + (text.empty() ? "" : ", ") + printable(names[i], text_bytes_max);
    if (!text.empty() && text_width(longer + rest, font) > width_max)
      return fmt::format("{} and {} more", text, names.size() - i);
    text = longer;
  }
  return text;
}

}  // namespace sabath
