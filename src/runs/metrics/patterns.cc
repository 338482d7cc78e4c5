#include "metrics/patterns.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <cmath>

#include "base/number.h"
#include "base/text.h"
#include "metrics/pairs.h"
#include "metrics/words.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t patterns_max = 256, pattern_length_max = 4096, memory_max = 4 << 20;
constexpr int groups_max = 64;

RE2::Options options() {
  RE2::Options options;
  options.set_max_mem(memory_max);
  options.set_log_errors(false);
  return options;
}

[[noreturn]] void refuse(const std::string& pattern, std::string_view why) {
  throw Error(FailureKind::invalid, fmt::format("cannot use the metric pattern '{}': {}", printable(pattern), why),
              "write an RE2 expression with named groups, such as 'epoch (?P<epoch>\\d+) loss (?P<loss>\\S+)'");
}

}  // namespace

struct Patterns::Pattern {
  Pattern(const std::string& text, std::string_view its_mark) : expression(text, options()), mark(its_mark) {}
  RE2 expression;
  std::string mark;                // of every line that matches; may be empty
  std::vector<std::string> names;  // by group; "" for one without a name
  bool named = false;              // groups `name` and `value` say both
};

Patterns::Patterns(const std::vector<std::string>& patterns) {
  if (patterns.size() > patterns_max) refuse(patterns.front(), fmt::format("there are more than {}", patterns_max));
  for (const std::string& text : patterns) add(text, {});
}

Patterns::Patterns(std::span<const Shape> shapes) {
  for (const auto& [mark, expression] : shapes) add(std::string(expression), mark);
}

void Patterns::add(const std::string& text, std::string_view mark) {
  if (text.size() > pattern_length_max) refuse(text, "it is too long");
  auto pattern = std::make_unique<Pattern>(text, mark);
  const RE2& expression = pattern->expression;
  if (!expression.ok()) refuse(text, expression.error());
  const auto& groups = expression.CapturingGroupNames();
  if (groups.empty()) refuse(text, "it has no named group");
  if (expression.NumberOfCapturingGroups() > groups_max) refuse(text, fmt::format("more than {} groups", groups_max));
  pattern->names.resize(static_cast<std::size_t>(expression.NumberOfCapturingGroups()) + 1);
  for (const auto& [index, name] : groups) pattern->names[static_cast<std::size_t>(index)] = name;
  const auto& by_name = expression.NamedCapturingGroups();
  pattern->named = by_name.contains("name") && by_name.contains("value");
  patterns_.push_back(std::move(pattern));
}

Patterns::~Patterns() = default;
Patterns::Patterns(Patterns&&) noexcept = default;
Patterns& Patterns::operator=(Patterns&&) noexcept = default;

namespace {

std::string_view view(const re2::StringPiece& piece) { return {piece.data(), piece.size()}; }

// \S+ takes the comma behind a number along.
std::optional<double> number_of(std::string_view text, bool grouped, Reading& reading) {
  text = trim(text);
  while (!text.empty() && std::string_view(",;|)]}%").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  const Quantity number = take_quantity(text, grouped);
  reading.doubtful = reading.doubtful || number.doubtful;
  return number.found && text.empty() ? std::optional(number.value) : std::nullopt;
}

// A number is a value by the group's name. Words are not, but for the names and numbers of `values`, and for `group`,
// which is put in front of their names.
struct Taker {
  Reading& reading;
  bool grouped;
  std::string_view name, value, group;

  void take(const std::string& part, std::string_view text, bool named) {
    if (named && part == "name") {
      name = trim(text);
    } else if (named && part == "value") {
      value = trim(text);
    } else if (const auto number = number_of(text, grouped, reading)) {
      take_number_of(part, text, *number);
    } else if (part == "values") {
      if (!take_words(text, reading)) take_pairs(text, reading);
    } else if (part == "group") {
      group = trim(text);
    }
  }

  void finish() {
    if (const auto number = number_of(value, grouped, reading); number && !name.empty()) reading.add(name, *number);
    for (Reading::Value& one : reading.values) {
      if (one.group.empty()) one.group = group;
    }
  }

 private:
  void take_number_of(const std::string& part, std::string_view text, double number) const {
    const char position = part == "epoch" ? 'e' : part == "step" ? 's' : part == "rank" ? 'r' : '\0';
    if (position == '\0') {
      reading.add(part, number);
    } else {
      reading.place(position, number, text);
    }
  }
};

}  // namespace

void Patterns::read(std::string_view line, Trace& trace, Reading& reading) const {
  std::vector<re2::StringPiece> found;
  for (const auto& pattern : patterns_) {
    if (line.find(pattern->mark) == std::string_view::npos) continue;
    const auto& names = pattern->names;
    found.resize(names.size());
    if (!pattern->expression.Match(re2::StringPiece(line.data(), line.size()), 0, line.size(), RE2::UNANCHORED,
                                   found.data(), static_cast<int>(found.size())))
      continue;
    Taker taker{reading, writes_points(line), {}, {}, {}};
    for (std::size_t i = 1; i < names.size(); ++i) {
      if (found[i].data() != nullptr && !names[i].empty()) taker.take(names[i], view(found[i]), pattern->named);
    }
    taker.finish();
    if (reading.values.empty() && !reading.epoch) {
      reading.clear();
      continue;
    }
    if (reading.epoch) trace.epoch = reading.epoch;
    if (!reading.epoch) reading.epoch = trace.epoch;
    reading.kind = reading.values.empty() ? Reading::Kind::state : Reading::Kind::values;
    return;
  }
}

}  // namespace sabath
