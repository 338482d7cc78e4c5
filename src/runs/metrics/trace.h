// The reader's memory of one rank between its lines. Bounded: a few names, one bar. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sabath {

struct Trace {
  // The epoch of the last header: for lines that name none.
  std::optional<double> epoch;
  bool epoch_told = false;  // the bar of this epoch has ended: a further one is an evaluation

  struct Interval {  // begun and not ended, of an MLPerf log
    std::string name;
    double begin_ms = 0;
    std::optional<double> epoch;
    std::int64_t instance = 0;
  };
  std::vector<Interval> intervals;

  std::vector<std::string> columns;  // of a CSV table that has begun
  char separator = ',';              // of its cells
  std::vector<std::string> table;    // of one with blanks
  std::string summary;               // behind "Best result:" it is "best"

  // The bar that was told last, so that the same bar told again gives only what is new.
  std::optional<double> bar_epoch;
  std::vector<std::pair<std::string, double>> bar_values;
};

}  // namespace sabath
