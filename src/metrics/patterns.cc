#include "metrics/patterns.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <cmath>

#include "base/text.h"
#include "metrics/number.h"
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
  explicit Pattern(const std::string& text) : expression(text, options()) {}
  RE2 expression;
  std::vector<std::string> names;  // by group; "" for one without a name
  bool named = false;              // groups `name` and `value` say both
};

Patterns::Patterns(const std::vector<std::string>& patterns) {
  if (patterns.size() > patterns_max) refuse(patterns.front(), fmt::format("there are more than {}", patterns_max));
  for (const std::string& text : patterns) {
    if (text.size() > pattern_length_max) refuse(text, "it is too long");
    auto pattern = std::make_unique<Pattern>(text);
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
}

Patterns::~Patterns() = default;
Patterns::Patterns(Patterns&&) noexcept = default;
Patterns& Patterns::operator=(Patterns&&) noexcept = default;

namespace {

std::string_view view(const re2::StringPiece& piece) { return {piece.data(), piece.size()}; }

// \S+ takes the comma behind a number along.
std::optional<double> number_of(std::string_view text) {
  text = trim(text);
  while (!text.empty() && std::string_view(",;|)]}%").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  return try_number(text);
}

std::optional<std::int64_t> integer_of(double number) {
  constexpr double exact_max = 9e15;
  if (!(std::abs(number) < exact_max) || std::trunc(number) != number) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

void take_group(const std::string& name, std::string_view text, bool named, Reading& reading) {
  if (named && (name == "name" || name == "value")) return;
  const auto number = number_of(text);
  if (!number) return;
  if (name == "epoch") {
    if (std::isfinite(*number)) reading.epoch = number;
  } else if (name == "step") {
    reading.step = integer_of(*number);
  } else if (name == "rank") {
    if (const auto rank = integer_of(*number); rank && *rank >= 0 && *rank < 0x7fffffff)
      reading.rank = static_cast<int>(*rank);
  } else {
    reading.add(name, *number);
  }
}

}  // namespace

void Patterns::read(std::string_view line, Trace& trace, Reading& reading) const {
  std::vector<re2::StringPiece> found;
  for (const auto& pattern : patterns_) {
    const auto& names = pattern->names;
    found.resize(names.size());
    if (!pattern->expression.Match(re2::StringPiece(line.data(), line.size()), 0, line.size(), RE2::UNANCHORED,
                                   found.data(), static_cast<int>(found.size())))
      continue;
    std::string_view name, value;
    for (std::size_t i = 1; i < names.size(); ++i) {
      if (found[i].data() == nullptr || names[i].empty()) continue;
      take_group(names[i], view(found[i]), pattern->named, reading);
      if (pattern->named && names[i] == "name") name = trim(view(found[i]));
      if (pattern->named && names[i] == "value") value = trim(view(found[i]));
    }
    if (const auto number = number_of(value); number && !name.empty()) reading.add(name, *number);
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
