#include "report/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace sabath {
namespace {

// Okabe and Ito's colours, which the colour-blind can tell apart, without the two that white swallows.
constexpr std::array colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#5B4B8A"};
constexpr std::array dashes{"", "8 4", "3 3", "10 3 2 3", "12 6", "1 3"};
constexpr const char* grey = "#7A7F87";
constexpr const char* time_dash = "2 4";

const char* colour_of(std::size_t i) { return colours[i % colours.size()]; }
const char* dash_of(std::size_t i) { return dashes[i % dashes.size()]; }
Marker marker_of(std::size_t i) { return static_cast<Marker>(i % colours.size()); }

// The best value that a run reaches, negated for a score: the least is the best. Infinity without a value.
double reached(const Run& run, const std::string& metric) {
  const bool most = role_of(metric) == Role::score;
  double best = std::numeric_limits<double>::infinity();
  const Series* const series = run.find(metric);
  for (const double value : series == nullptr ? std::vector<double>{} : series->y) {
    if (std::isfinite(value)) best = std::min(best, most ? -value : value);
  }
  return best;
}

std::vector<const Run*> drawn_of(std::span<const Run> runs, const Shown& shown, Curves& made) {
  std::vector<const Run*> drawn;
  for (const Run& run : runs) drawn.push_back(&run);
  if (drawn.size() <= colours.size()) return drawn;
  if (!shown.left.empty()) {
    const auto judge = std::ranges::find_if(shown.left, is_validation);
    made.left_out_by = judge == shown.left.end() ? shown.left.front() : *judge;
    std::ranges::stable_sort(drawn, {}, [&](const Run* run) { return reached(*run, made.left_out_by); });
  }
  const auto left_out = drawn.begin() + colours.size();
  std::ranges::sort(left_out, drawn.end());  // as they came
  for (auto run = left_out; run != drawn.end(); ++run) made.runs_left_out.push_back((*run)->label);
  drawn.erase(left_out, drawn.end());
  std::ranges::sort(drawn);
  return drawn;
}

void style_one(const Run& run, const Shown& shown, Curves& made) {
  for (std::size_t i = 0; i < shown.left.size(); ++i) {
    const Series* const series = run.find(shown.left[i]);
    if (series == nullptr) continue;
    const char* const dash = i < colours.size() ? "" : dash_of(i / colours.size());
    made.curves.push_back({&run, series, false, colour_of(i), dash});
    made.legend.push_back({series->name, colour_of(i), dash, {}});
  }
  if (const Series* const series = run.find(shown.right); series != nullptr && !run.by_step) {
    made.curves.push_back({&run, series, true, grey, time_dash});
    made.legend.push_back({series->name + " (right)", grey, time_dash, {}});
  }
}

void style_several(std::span<const Run* const> runs, const Shown& shown, Curves& made) {
  std::vector<bool> metric_drawn(shown.left.size(), false);
  bool time_drawn = false;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    bool drawn = false;
    for (std::size_t j = 0; j < shown.left.size(); ++j) {
      const Series* const series = runs[i]->find(shown.left[j]);
      if (series == nullptr) continue;
      made.curves.push_back({runs[i], series, false, colour_of(i), dash_of(j), marker_of(i)});
      drawn = metric_drawn[j] = true;
    }
    if (const Series* const series = runs[i]->find(shown.right); series != nullptr && !runs[i]->by_step) {
      made.curves.push_back({runs[i], series, true, colour_of(i), time_dash, marker_of(i)});
      drawn = time_drawn = true;
    }
    if (drawn) made.legend.push_back({runs[i]->label, colour_of(i), "", marker_of(i)});
  }
  for (std::size_t j = 0; j < shown.left.size(); ++j) {
    if (metric_drawn[j]) made.legend.push_back({shown.left[j], grey, dash_of(j), {}});
  }
  if (time_drawn) made.legend.push_back({shown.right + " (right)", grey, time_dash, {}});
}

void note_metrics_left_out(std::span<const Run> runs, Curves& made) {
  const auto is_drawn = [&](const std::string& name) {
    return std::ranges::any_of(made.curves, [&](const Curve& curve) { return curve.series->name == name; });
  };
  for (const std::string& name : metric_names(runs)) {
    if (!is_drawn(name)) made.metrics_left_out.push_back(name);
  }
}

std::vector<double> sizes_of(const Series& series) {
  std::vector<double> sizes;
  for (const double value : series.y) {
    if (std::isfinite(value)) sizes.push_back(std::abs(value));
  }
  return sizes;
}

double quantile(std::vector<double> values, std::size_t parts) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / parts);
  std::ranges::nth_element(values, at);
  return *at;
}

// A thousand times what the runs' first values are, or a quarter of their values, in the middle run.
double limit_of(std::span<const Curve> curves) {
  constexpr double growth_max = 1000;
  std::map<std::string, std::vector<double>> usual;  // of each metric, by run
  double limit = 0;
  for (const Curve& curve : curves) {
    const std::vector<double> sizes = curve.right ? std::vector<double>{} : sizes_of(*curve.series);
    const Role role = role_of(curve.series->name);
    if (sizes.empty()) continue;
    if (role == Role::loss || role == Role::error) {
      usual[curve.series->name].push_back(std::max(sizes.front(), quantile(sizes, 4)));
    } else {
      limit = std::max(limit, *std::ranges::max_element(sizes));
    }
  }
  for (const auto& [metric, values] : usual) limit = std::max(limit, growth_max * quantile(values, 2));
  return limit > 0 ? limit : std::numeric_limits<double>::infinity();
}

void note_beyond(bool several, Curves& made) {
  made.limit = limit_of(made.curves);
  const auto of = [&](const Curve& curve) { return several ? " of " + curve.run->label : ""; };
  for (const Curve& curve : made.curves) {
    const std::vector<double> sizes = curve.right ? std::vector<double>{} : sizes_of(*curve.series);
    const double greatest = sizes.empty() ? 0 : *std::ranges::max_element(sizes);
    if (greatest > made.limit)
      made.beyond.push_back(fmt::format("{}{} to {:.3g}", curve.series->name, of(curve), greatest));
  }
}

}  // namespace

Curves style_curves(std::span<const Run> runs, const Shown& shown) {
  Curves made;
  if (runs.size() == 1) {
    style_one(runs.front(), shown, made);
  } else {
    style_several(drawn_of(runs, shown, made), shown, made);
  }
  if (!shown.asked) note_metrics_left_out(runs, made);
  note_beyond(runs.size() > 1, made);
  return made;
}

std::vector<Point> points_of(const Series& series, const Axis& x, const Axis& y, double width, double height) {
  const auto point = [&](std::size_t i) {
    return Point{x.share(series.x[i]) * width, (1 - y.share(series.y[i])) * height, !y.holds(series.y[i])};
  };
  std::vector<Point> points;
  const std::size_t size = series.x.size();
  if (size <= static_cast<std::size_t>(2 * width)) {
    for (std::size_t i = 0; i < size; ++i) points.push_back(point(i));
    return points;
  }
  for (std::size_t begin = 0; begin < size;) {
    const double pixel = std::floor(point(begin).x);
    std::size_t least = begin, greatest = begin, end = begin;
    for (; end < size && std::floor(point(end).x) == pixel; ++end) {
      if (!(series.y[end] >= series.y[least])) least = end;
      if (!(series.y[end] <= series.y[greatest])) greatest = end;
    }
    points.push_back(point(std::min(least, greatest)));
    if (least != greatest) points.push_back(point(std::max(least, greatest)));
    begin = end;
  }
  return points;
}

}  // namespace sabath
