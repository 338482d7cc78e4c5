// The printed values of a run, point by point, for exports that keep steps and lists: in the order of printing. Each
// (name, epoch, step) has the last value of its lowest rank; "name[0]", "name[1]" are one list. One thread.
// take() throws Error{invalid} beyond every bound.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sabath/metric.h"

namespace sabath {

struct PrintedPoint {
  std::string name;
  double time = 0;  // NaN: not known
  std::optional<double> epoch;
  std::optional<std::int64_t> step;
  int rank = -1;
  std::vector<double> values;
  bool is_list = false;
};

class PrintedPoints {
 public:
  void take(const Metric& metric);
  [[nodiscard]] const std::vector<PrintedPoint>& all() const { return points_; }
  // The last one of this name, of any epoch or step; null if there is none.
  [[nodiscard]] const PrintedPoint* find(std::string_view name) const;

 private:
  using Place = std::tuple<std::string, double, std::int64_t>;
  [[nodiscard]] static Place place_of(const Metric& metric, std::string_view name);
  PrintedPoint& at(const Metric& metric, std::string_view name);
  bool continue_list(const Metric& metric, std::string_view name, std::uint64_t index);

  std::map<Place, std::size_t> places_;
  std::vector<PrintedPoint> points_;
};

}  // namespace sabath
