// A series in a few figures, and the facts of a run's record, as small values for every format. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/run.h"

namespace sabath {

// Of the values that are numbers; `last` is the very last one, even NaN.
struct Summary {
  std::size_t count = 0;
  double first = 0, last = 0, least = 0, greatest = 0, mean = 0;
  double least_at = 0, greatest_at = 0;  // epochs or steps
};
[[nodiscard]] Summary summarize(const Series& series);  // `series` has a value

// The facts of a record, for users and exports; none for a plain log, which has no record.
[[nodiscard]] Facts config_of(const Run& run);
[[nodiscard]] Facts machine_of(const Run& run);
[[nodiscard]] Facts environment_of(const Run& run);
[[nodiscard]] RunRecord::Recipe recipe_of(const Run& run);
[[nodiscard]] std::vector<RunRecord::Asset> assets_of(const Run& run);
[[nodiscard]] RunTimes times_of(const Run& run);
[[nodiscard]] std::string commit_of(const Run& run);

// "finished", "failed", ...; "running, or killed" for a record that its run has not closed; "" without a record.
[[nodiscard]] std::string state_of(const Run& run);

// Seconds from the first to the last sign of the run, nullopt if it says no times.
[[nodiscard]] std::optional<double> duration_of(const Run& run);

}  // namespace sabath
