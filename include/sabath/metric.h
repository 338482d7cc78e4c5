// One measured value of a training run, as a log says it: the vocabulary of metric readers, records and reports.
// Plain data; any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace sabath {

struct Metric {
  // Seconds since 1970: the log's own clock where it has one, else when the line came. NaN: not known.
  double time = std::numeric_limits<double>::quiet_NaN();
  std::optional<double> epoch;       // as the log counts: from 0, from 1, or samples; nullopt: of no epoch
  std::optional<std::int64_t> step;  // batch or iteration, as the log counts
  std::optional<int> rank;           // from the line's prefix, else the stream's; nullopt: not said
  std::string name;                  // as the log calls it
  double value = 0;                  // NaN and infinities are values
};

}  // namespace sabath
