// The curves of a figure before they are drawn: their series, styles and points. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/axis.h"
#include "report/roles.h"
#include "report/run.h"
#include "report/svg_canvas.h"

namespace sabath {

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
  // Not drawn: runs, by the metric whose best value decided that (empty: the order of the runs did), and metrics.
  std::vector<std::string> runs_left_out, metrics_left_out;
  std::string left_out_by;
  double limit = 0;                 // the left axis ends there at the latest, or at its negative; infinity: it need not
  std::vector<std::string> beyond;  // "a run, loss to 1e+30": what leaves it
};

// One run: a colour for each metric. Several: a colour and a marker for each run, a dash for each metric. Of more than
// eight runs the eight that reach the best values of the first validation metric, or of the first, in the order in
// which they came. Losses and errors beyond a thousand times what runs usually have at first leave the axis, so that a
// run that diverged does not flatten the others.
[[nodiscard]] Curves style_curves(std::span<const Run> runs, const Shown& shown);

struct Point {
  double x = 0, y = 0;  // pixels; a y that is not finite is a gap
  bool beyond = false;  // the axis; then it is drawn at its end
};
// At most about two points for each pixel of the width, its least and its greatest value, so that no peak is lost.
[[nodiscard]] std::vector<Point> points_of(const Series& series, const Axis& x, const Axis& y, double width,
                                           double height);

}  // namespace sabath
