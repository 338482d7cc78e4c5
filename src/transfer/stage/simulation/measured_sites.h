// How long staging took elsewhere, to stand beside a forecast: facts, with their source. Pure; any thread.
#pragma once

#include <span>
#include <string_view>

namespace sabath {

struct MeasuredStaging {
  std::string_view round, system;  // of MLPerf HPC; CosmoFlow
  unsigned nodes = 0;
  double seconds_min = 0, seconds_median = 0, seconds_max = 0;  // min and max 0: one value is known
  double gb_per_s = 0;  // the whole data set once, over the median; 0: not known, as nodes shared copies
  std::string_view method;
};

// From staging_start to staging_stop in the result logs that the submitters published; the median of a system's runs.
inline constexpr std::string_view measured_source =
    "MLPerf HPC result logs, CosmoFlow, staging_start to staging_stop, median of each system's runs; GB/s: the data "
    "set "
    "once, over the median, by arithmetic";

[[nodiscard]] std::span<const MeasuredStaging> measured_stagings();

}  // namespace sabath
