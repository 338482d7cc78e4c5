// An axis of a figure: its range, its ticks and their labels. Pure; any thread.
#pragma once

#include <string>
#include <vector>

namespace sabath {

struct Tick {
  double value = 0;
  std::string label;  // empty: a small tick between decades
};

struct Axis {
  double low = 0, high = 1;  // low < high, both finite
  bool logarithmic = false;
  std::vector<Tick> ticks;

  // 0 at `low` and below, 1 at `high` and above; not finite if the value is not.
  [[nodiscard]] double share(double value) const;
  [[nodiscard]] bool holds(double value) const { return !(value < low || value > high); }
};

// For these values, of which at least one is finite: logarithmic when all are above zero and span more than two
// decades. Linear ones end at a tick on both sides, `from_zero` ones at zero. `count` is about how many ticks there
// will be.
[[nodiscard]] Axis value_axis(const std::vector<double>& values, int count, bool from_zero = false);
// From a little below the least to a little above the greatest, ticks at whole numbers if all values are whole.
[[nodiscard]] Axis position_axis(const std::vector<double>& values, int count);

}  // namespace sabath
