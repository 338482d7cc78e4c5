#include "report/expectation.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/number.h"
#include "base/text.h"
#include "report/summary.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using Which = Expectation::Which;
using Comparison = Expectation::Comparison;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(FailureKind::usage, fmt::format("'{}' is no expectation", printable(text)),
              "write for example val_mae<=0.124, min(val_loss)<0.2 or accuracy=0.97+-0.01");
}

struct Operator {
  std::string_view text;
  Comparison comparison;
};
constexpr std::array operators{Operator{"<=", Comparison::at_most}, Operator{">=", Comparison::at_least},
                               Operator{"==", Comparison::equal},   Operator{"<", Comparison::less},
                               Operator{">", Comparison::greater},  Operator{"=", Comparison::equal}};

struct Choice {
  std::string_view text;
  Which which;
};
constexpr std::array choices{Choice{"last", Which::last}, Choice{"first", Which::first}, Choice{"min", Which::least},
                             Choice{"max", Which::greatest}, Choice{"mean", Which::mean}};

double parse_value(std::string_view text, const std::string& whole) {
  const auto number = try_number(trim(text));
  if (!number || std::isnan(*number)) refuse(whole);
  return *number;
}

void take_name(std::string_view name, Expectation& made) {
  for (const Choice& choice : choices) {
    if (!name.starts_with(choice.text) || !name.substr(choice.text.size()).starts_with('(') || !name.ends_with(')'))
      continue;
    made.which = choice.which;
    name = name.substr(choice.text.size() + 1, name.size() - choice.text.size() - 2);
    break;
  }
  made.name = trim(name);
  if (made.name.empty()) refuse(made.text);
}

double value_of(const Summary& summary, Which which) {
  switch (which) {
    case Which::last:
      return summary.last;
    case Which::first:
      return summary.first;
    case Which::least:
      return summary.least;
    case Which::greatest:
      return summary.greatest;
    case Which::mean:
      break;
  }
  return summary.mean;
}

bool holds(const Expectation& expectation, double value) {
  switch (expectation.comparison) {
    case Comparison::less:
      return value < expectation.value;
    case Comparison::at_most:
      return value <= expectation.value;
    case Comparison::greater:
      return value > expectation.value;
    case Comparison::at_least:
      return value >= expectation.value;
    case Comparison::equal:
      break;
  }
  return value == expectation.value || std::abs(value - expectation.value) <= expectation.tolerance;
}

}  // namespace

Expectation parse_expectation(const std::string& text) {
  Expectation made;
  made.text = text;
  // The last operator: a name may have one of these signs, a number has none.
  const std::size_t end = text.find_last_of("<>=");
  if (end == std::string::npos) refuse(text);
  std::size_t begin = end;
  if (begin > 0 && text[end] == '=' && std::string_view("<>=").find(text[begin - 1]) != std::string_view::npos) --begin;
  const std::string_view sign = std::string_view(text).substr(begin, end + 1 - begin);
  for (const Operator& one : operators) {
    if (sign == one.text) made.comparison = one.comparison;
  }
  take_name(trim(std::string_view(text).substr(0, begin)), made);
  std::string_view value = std::string_view(text).substr(end + 1);
  constexpr std::size_t mark_length = 2;  // bytes, of either
  std::size_t mark = value.find("+-");
  if (mark == std::string_view::npos) mark = value.find("±");
  if (mark != std::string_view::npos) {
    if (made.comparison != Comparison::equal) refuse(text);
    made.tolerance = parse_value(value.substr(mark + mark_length), text);
    value = value.substr(0, mark);
  }
  made.value = parse_value(value, text);
  return made;
}

Judgement judge(const Expectation& expectation, const Run& run) {
  Judgement verdict;
  if (const Series* const series = run.find(expectation.name)) {
    verdict.found = true;
    verdict.value = value_of(summarize(*series), expectation.which);
  } else {
    for (const auto& [name, value] : run.figures) {
      if (name != expectation.name) continue;
      verdict.found = true;
      verdict.value = value;
    }
  }
  verdict.met = verdict.found && holds(expectation, verdict.value);
  return verdict;
}

}  // namespace sabath
