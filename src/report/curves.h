// The curves of a figure before they are drawn: their series, styles and points. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/axis.h"
#include "report/roles.h"
#include "report/run.h"

namespace sabath {

enum class Marker : std::uint8_t { circle, square, diamond, triangle, cross, wedge, plus, bar };

struct Curve {
  const Run* run = nullptr;
  const Series* series = nullptr;
  bool right = false;
  std::string colour, dash;  // of SVG; an empty dash is a full line
  Marker marker = Marker::circle;
};

struct LegendEntry {
  std::string label, colour, dash;
  std::optional<Marker> marker;
};

struct Curves {
  std::vector<Curve> curves;
  std::vector<LegendEntry> legend;
  std::size_t runs_left_out = 0;
  std::string left_out_by;  // the metric whose best value decided that; empty: the order of the runs did
};

// One run: a colour for each metric. Several: a colour and a marker for each run, a dash for each metric. Of more than
// eight runs the eight that reach the best values of the first validation metric, or of the first, in the order in
// which they came.
[[nodiscard]] Curves style_curves(std::span<const Run> runs, const Shown& shown);

struct Point {
  double x = 0, y = 0;  // pixels; a y that is not finite is a gap
};
// At most about two points for each pixel of the width, its least and its greatest value, so that no peak is lost.
[[nodiscard]] std::vector<Point> points_of(const Series& series, const Axis& x, const Axis& y, double width,
                                           double height);

}  // namespace sabath
