// What a series came to, and what a run's document says, as small values that every format prints. Pure; any thread.
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

// What a record says, for people and exports; nothing of a plain log, which has no record.
[[nodiscard]] Facts config_of(const Run& run);
[[nodiscard]] Facts machine_of(const Run& run);
[[nodiscard]] Facts environment_of(const Run& run);
[[nodiscard]] RunRecord::Recipe recipe_of(const Run& run);
[[nodiscard]] std::vector<RunRecord::Asset> assets_of(const Run& run);
[[nodiscard]] RunTimes times_of(const Run& run);
[[nodiscard]] std::string commit_of(const Run& run);

// "finished", "failed", ...; of a record that nobody has closed both that it can be; "" if there is no record.
[[nodiscard]] std::string state_of(const Run& run);

// Seconds from the first to the last sign of the run, nullopt if it says no times.
[[nodiscard]] std::optional<double> duration_of(const Run& run);

}  // namespace sabath
