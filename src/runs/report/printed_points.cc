#include "report/printed_points.h"

#include <fmt/format.h>

#include <limits>

#include "base/text.h"
#include "base/wording.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t printed_max = 4'000'000;

struct Element {
  std::string_view name;
  std::uint64_t index = 0;
};

// "betas[1]": an element of a list.
std::optional<Element> element_of(std::string_view name) {
  const std::size_t open = name.rfind('[');
  if (!name.ends_with(']') || open == std::string_view::npos || open == 0) return std::nullopt;
  const auto index = try_whole_number(name.substr(open + 1, name.size() - open - 2));
  return index ? std::optional(Element{name.substr(0, open), *index}) : std::nullopt;
}

}  // namespace

PrintedPoints::Place PrintedPoints::place_of(const Metric& metric, std::string_view name) {
  constexpr double no_epoch = -std::numeric_limits<double>::infinity();
  constexpr std::int64_t no_step = std::numeric_limits<std::int64_t>::min();
  return {std::string(name), metric.epoch.value_or(no_epoch), metric.step.value_or(no_step)};
}

PrintedPoint& PrintedPoints::at(const Metric& metric, std::string_view name) {
  const auto [found, is_new] = places_.try_emplace(place_of(metric, name), points_.size());
  if (!is_new) return points_[found->second];
  if (points_.size() == printed_max) {
    throw Error(
        FailureKind::invalid, fmt::format("there are more than {} values", printed_max),
        fmt::format("such a log can still be written out: {} {} csv", verb_text("report"), option_text("format")));
  }
  PrintedPoint& made = points_.emplace_back();
  made.name = name;
  made.epoch = metric.epoch;
  made.step = metric.step;
  made.rank = metric.rank.value_or(-1);
  return made;
}

// A further element of a list that has begun; false: there is none that it continues.
bool PrintedPoints::continue_list(const Metric& metric, std::string_view name, std::uint64_t index) {
  const auto found = places_.find(place_of(metric, name));
  if (index == 0 || found == places_.end() || !points_[found->second].is_list) return false;
  PrintedPoint& list = points_[found->second];
  if (metric.rank.value_or(-1) > list.rank) return true;
  if (index != list.values.size()) return false;
  list.values.push_back(metric.value);
  return true;
}

void PrintedPoints::take(const Metric& metric) {
  const auto element = element_of(metric.name);
  if (element && continue_list(metric, element->name, element->index)) return;
  const bool begins_list = element && element->index == 0;
  PrintedPoint& point = at(metric, begins_list ? element->name : std::string_view(metric.name));
  const int rank = metric.rank.value_or(-1);
  if (rank > point.rank) return;
  point.values.assign(1, metric.value);
  point.is_list = begins_list;
  point.time = metric.time;
  point.rank = rank;
}

const PrintedPoint* PrintedPoints::find(std::string_view name) const {
  for (auto point = points_.rbegin(); point != points_.rend(); ++point) {
    if (point->name == name) return &*point;
  }
  return nullptr;
}

}  // namespace sabath
