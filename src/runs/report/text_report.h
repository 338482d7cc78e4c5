// A report for a terminal: for each run its facts, the table of its epochs, and each metric as a sparkline; for several
// runs their results side by side. Pure; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "report/roles.h"
#include "report/run.h"

namespace sabath {

struct TextOptions {
  std::size_t width = 80;  // columns
  bool utf8 = true;
  bool all_rows = false;  // else the middle of a long table is left out
};

[[nodiscard]] std::string text_report(std::span<const Run> runs, const std::vector<std::string>& names,
                                      const TextOptions& options);

// Five significant digits: "0.0123", "7.9952e-07", "17502", "NaN".
[[nodiscard]] std::string short_number(double value);

}  // namespace sabath
