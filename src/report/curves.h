// The curves of a figure before they are drawn: which series, in which style, as which points. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/axis.h"
#include "report/roles.h"
#include "report/run.h"

namespace sabath {

struct Curve {
  const Run* run = nullptr;
  const Series* series = nullptr;
  bool right = false;
  std::string colour, dash;  // of SVG; an empty dash is a full line
};

struct LegendEntry {
  std::string label, colour, dash;
};

struct Curves {
  std::vector<Curve> curves;
  std::vector<LegendEntry> legend;
  std::size_t runs_left_out = 0;
};

// One run: a colour for each metric. Several: a colour for each run and a dash for each metric.
[[nodiscard]] Curves style_curves(std::span<const Run> runs, const Shown& shown);

struct Point {
  double x = 0, y = 0;  // pixels; a y that is not finite is a gap
};
// At most about two points for each pixel of the width, its least and its greatest value, so that no peak is lost.
[[nodiscard]] std::vector<Point> points_of(const Series& series, const Axis& x, const Axis& y, double width,
                                           double height);

}  // namespace sabath
