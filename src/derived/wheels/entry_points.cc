#include "wheels/entry_points.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/split.h"
#include "base/text.h"
#include "packing/mend_scripts.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t entry_points_max = 10'000, program_name_max = 200, reference_max = 1000;

bool is_word_letter(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_program_name(std::string_view name) {
  return !name.empty() && name.size() <= program_name_max && is_word_letter(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_word_letter(c) || c == '-' || c == '.' || c == '+'; });
}

// "a.b_c": words of Python, with dots between them.
bool is_dotted_name(std::string_view text) {
  if (text.empty() || text.size() > reference_max) return false;
  return std::ranges::all_of(parts_at(text, '.'), [](const std::string& part) {
    return !part.empty() && !is_digit(part.front()) && std::ranges::all_of(part, is_word_letter);
  });
}

class EntryPointsReader {
 public:
  EntryPointsReader(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {}

  std::vector<EntryPoint> read() {
    for (const std::string& whole : parts_at(text_, '\n')) {
      ++line_;
      std::string_view line = whole;
      if (line.ends_with('\r')) line.remove_suffix(1);
      const std::string_view word = trim(line);
      if (word.empty() || word.starts_with('#') || word.starts_with(';')) continue;
      if (line_ > 1'000'000) fail("is too long");
      if (word.starts_with('['))
        begin_section(word);
      else
        take(line, word);
    }
    std::ranges::sort(points_, {}, &EntryPoint::name);
    const auto twice = std::ranges::adjacent_find(points_, {}, &EntryPoint::name);
    if (twice != points_.end()) fail(fmt::format("has {} twice", twice->name));
    return std::move(points_);
  }

 private:
  void begin_section(std::string_view word) {
    if (!word.ends_with(']')) fail("has a section without an end");
    const std::string_view name = trim(word.substr(1, word.size() - 2));
    wanted_ = name == "console_scripts" || name == "gui_scripts";
    in_section_ = true;
  }

  void take(std::string_view line, std::string_view word) {
    if (!in_section_) fail("has text before its first section");
    if (!wanted_) return;
    if (line.front() == ' ' || line.front() == '\t') fail("has an entry point of several lines");
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) fail("is no entry point: NAME = MODULE:OBJECT");
    EntryPoint point;
    point.name = trim(word.substr(0, equals));
    if (!is_program_name(point.name))
      fail(fmt::format("names a program {}: letters, digits and ._+- make a name", printable(point.name)));
    std::string_view reference = trim(word.substr(equals + 1));
    if (const std::size_t extras = reference.find('['); extras != std::string_view::npos && reference.ends_with(']'))
      reference = trim(reference.substr(0, extras));
    const std::size_t colon = reference.find(':');
    point.module = trim(reference.substr(0, colon));
    if (colon != std::string_view::npos) point.attributes = trim(reference.substr(colon + 1));
    if (!is_dotted_name(point.module) || !is_dotted_name(point.attributes))
      fail(fmt::format("{} is no MODULE:OBJECT: {}", point.name, printable(reference)));
    if (points_.size() >= entry_points_max) fail("has too many entry points");
    points_.push_back(std::move(point));
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(FailureKind::invalid, fmt::format("{}:{} {}", origin_, line_, why));
  }

  std::string_view text_;
  const std::string& origin_;
  std::vector<EntryPoint> points_;
  std::size_t line_ = 0;
  bool in_section_ = false, wanted_ = false;
};

}  // namespace

std::vector<EntryPoint> parse_entry_points(std::string_view text, const std::string& origin) {
  return EntryPointsReader(text, origin).read();
}

std::string entry_point_script(const EntryPoint& point) {
  const std::string_view first = std::string_view(point.attributes).substr(0, point.attributes.find('.'));
  return script_start("") + fmt::format(
                                "import sys\nfrom {} import {}\nif __name__ == \"__main__\":\n"
                                "    sys.exit({}())\n",
                                point.module, first, point.attributes);
}

}  // namespace sabath
