// Two runs compared: the same data? the same code? what else differs, and by how much do the results? Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "report/run.h"
#include "sabath/verbs/compare.h"

namespace sabath {

// Times are not compared with the tolerance: they tell machines apart, not results.
[[nodiscard]] RunComparison compare_runs(const Run& a, const Run& b, const std::vector<std::string>& names,
                                         double tolerance);

}  // namespace sabath
