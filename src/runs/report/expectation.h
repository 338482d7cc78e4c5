// A user's expectation of a run: "val_mae<=0.124", "min(val_loss)<0.2", "accuracy=0.97+-0.01". Pure; any thread.
// Parsing throws Error{usage}.
#pragma once

#include <cstdint>
#include <string>

#include "report/run.h"

namespace sabath {

struct Expectation {
  enum class Which : std::uint8_t { last, first, least, greatest, mean };
  enum class Comparison : std::uint8_t { less, at_most, greater, at_least, equal };
  std::string text, name;
  Which which = Which::last;
  Comparison comparison = Comparison::equal;
  double value = 0, tolerance = 0;
};
[[nodiscard]] Expectation parse_expectation(const std::string& text);

struct Judgement {
  bool met = false, found = false;  // found: the run has such a metric
  double value = 0;                 // what it came to
};
// Epochs first, then steps, then figures of no epoch. NaN meets nothing.
[[nodiscard]] Judgement judge(const Expectation& expectation, const Run& run);

}  // namespace sabath
