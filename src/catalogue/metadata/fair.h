// The FAIR principles as the papers on HPCFAIR list them (F1 to R3), asked of a recipe. Each answer says what it rests
// on, and the change that would mend it. Pure; any thread. Reference: docs/fair.md.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sabath/recipe.h"
#include "sabath/verbs/fair.h"

namespace sabath {

// What was tried before: an answer is `yes` where it was done.
struct FairTrials {
  bool is_catalogued = false;     // a search finds it
  bool id_leads_here = false;     // the recipe was found by its identifier
  std::optional<bool> answers{};  // its sources; nullopt: they were not asked
  std::string silent{};           // the fragment that none of them gives
  std::string asked{};            // how many answered; or why that one did not
};

[[nodiscard]] std::vector<FairPrinciple> fair_principles(const Recipe& recipe, const FairTrials& trials);

}  // namespace sabath
