// Runs made of numbers, for tests of what reports do with them.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "report/run.h"

namespace sabath::test {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

inline Series series(std::string name, std::vector<double> y, double first = 1) {
  Series made;
  made.name = std::move(name);
  for (const double value : y) {
    made.x.push_back(first + static_cast<double>(made.x.size()));
    made.y.push_back(value);
    made.time.push_back(nan);
  }
  return made;
}

inline Run run_of(std::vector<Series> all, const char* document = nullptr) {
  Run run;
  run.label = "a run";
  run.series = std::move(all);
  if (document != nullptr) run.record = parse_run_record(document, "run.json");
  return run;
}

}  // namespace sabath::test
