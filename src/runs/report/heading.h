// The text above a figure's curves: model, dataset, place and time of the training. Pure; any thread.
#pragma once

#include <span>
#include <string>

#include "report/run.h"

namespace sabath {

struct Heading {
  std::string title;   // "cosmoflow on cosmoUniverse", or the labels of runs without a record
  std::string detail;  // machine, ranks and date, as far as the records know them; empty: they do not
};

// Runs that differ are listed, three of each at most.
[[nodiscard]] Heading heading_of(std::span<const Run> runs);

}  // namespace sabath
