// A consistent set of software for needs: newest first, the first need before the second. Tables in, choice out. Pure;
// any thread. The work is bounded: a table that leaves too many combinations is refused in words.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sabath/verbs/site.h"
#include "software/need.h"

namespace sabath {

struct SoftwarePick {
  std::size_t row = 0;  // of the table
  std::string version;  // of the row, or of what it provides
};

struct SoftwareSolution {
  std::vector<SoftwarePick> picks;   // one for each need; empty: nothing fits
  std::vector<std::string> modules;  // to be loaded, in this order
  std::vector<std::string> also;     // the modules of another set with the same versions; empty: there is none
  std::vector<std::string> against;  // why nothing fits, a sentence each
  std::vector<std::string> nearest;  // modules of the nearest set that exists; empty: there is none
  bool is_whole = true;              // false: there are too many combinations to say that nothing fits
};

[[nodiscard]] SoftwareSolution solve_needs(std::span<const Software> table, std::span<const SoftwareNeed> needs);

}  // namespace sabath
