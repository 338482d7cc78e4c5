// The figure of a training: losses and errors on the left axis, time per epoch on the right one, over epochs, several
// runs in one. A self-contained SVG 1.1 text that needs no script, font or network. Pure; any thread.
//
// For programs: each curve is a <g class="curve" data-run data-metric data-axis="left|right"> with one <path>, and
// <g class="axes"> says the rectangle and the ranges, so that coordinates can be turned back into values.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/roles.h"
#include "report/run.h"

namespace sabath {

struct FigureSize {
  double width = 960, height = 540;  // pixels
};

// Titled with model, data set, machine and date where the runs' records know them. Of more than eight runs the best
// eight are drawn, which the figure says. Without a value to draw it says that.
[[nodiscard]] std::string draw_figure(std::span<const Run> runs, const Shown& shown, const FigureSize& size = {});

// Text for XML and HTML: control bytes and invalid UTF-8 shown as \xNN, the five special characters escaped.
[[nodiscard]] std::string xml_text(std::string_view text);

}  // namespace sabath
