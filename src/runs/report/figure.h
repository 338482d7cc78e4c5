// The figure of a training: losses and errors on the left axis, time per epoch on the right one, over epochs, several
// runs in one. A self-contained SVG 1.1 text that needs no script, font or network. Pure; any thread.
//
// For programs: each curve is a <g class="curve" data-run data-metric data-axis="left|right"> with one <path>, and
// <g class="axes"> says the rectangle and the ranges, so that coordinates can be turned back into values; what is
// beyond an axis stands at its end, under a mark of the class "beyond".
#pragma once

#include <span>
#include <string>

#include "report/roles.h"
#include "report/run.h"

namespace sabath {

struct FigureSize {
  double width = 960, height = 540;  // pixels
};

// Titled with model, data set, machine and date where the runs' records know them. Of more than eight runs the best
// eight are drawn. The figure says which runs and metrics are not drawn, and which curves leave the axis. It is higher
// than `size` where the legend is long. Without a value to draw it says that.
[[nodiscard]] std::string draw_figure(std::span<const Run> runs, const Shown& shown, const FigureSize& size = {});

}  // namespace sabath
