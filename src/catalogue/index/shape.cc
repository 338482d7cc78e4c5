#include "index/shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t axes_max = 64;

bool is_number(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_digit); }

std::string_view without_zeros(std::string_view digits) {
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
}

[[noreturn]] void refuse(std::string_view text) {
  throw Error(FailureKind::usage, fmt::format("{} is no shape", printable(text)),
              fmt::format("as 512,512,?,4: at most {} lengths, and ? for an axis of any length", axes_max));
}

// Without the brackets around all, and a comma behind the last axis, as Python writes it.
std::string_view bare(std::string_view text) {
  text = trim(text);
  const bool bracketed =
      text.size() > 1 && ((text.front() == '(' && text.back() == ')') || (text.front() == '[' && text.back() == ']'));
  if (bracketed) text = trim(text.substr(1, text.size() - 2));
  if (text.ends_with(',')) text = trim(text.substr(0, text.size() - 1));
  return text;
}

}  // namespace

ShapePattern ShapePattern::parse(std::string_view text) {
  ShapePattern pattern;
  for (std::string_view rest = bare(text); !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of(",xX"), rest.size());
    const std::string axis = to_lower(trim(rest.substr(0, end)));
    if (is_number(axis)) {
      pattern.axes_.emplace_back(without_zeros(axis));
    } else if (axis == "?" || axis == "*" || axis == "-1" || axis == "none" || axis == "null") {
      pattern.axes_.emplace_back(std::nullopt);
    } else {
      refuse(text);
    }
    if (end + 1 == rest.size() || pattern.axes_.size() > axes_max) refuse(text);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return pattern;
}

bool ShapePattern::fits(std::string_view shape) const {
  auto axis = axes_.begin();
  while (!shape.empty()) {
    const std::size_t end = std::min(shape.find(','), shape.size());
    const std::string_view stored = trim(shape.substr(0, end));
    if (axis == axes_.end() || (*axis && is_number(stored) && **axis != without_zeros(stored))) return false;
    ++axis;
    shape.remove_prefix(std::min(end + 1, shape.size()));
  }
  return axis == axes_.end();
}

}  // namespace sabath
