// The FAIR principles as the papers on HPCFAIR list them (F1 to R3), asked of a recipe. Each answer says what it rests
// on, and the change that would mend it. Pure; any thread. Reference: docs/fair.md.
#pragma once

#include <vector>

#include "sabath/fair.h"
#include "sabath/recipe.h"

namespace sabath {

// `is_catalogued`: a search finds it.
[[nodiscard]] std::vector<FairPrinciple> fair_principles(const Recipe& recipe, bool is_catalogued);

}  // namespace sabath
