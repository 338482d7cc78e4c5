// The one list of all that a recipe can start: steps and how they are started, the variables and settings that they
// get, the modules and packages that are loaded and installed for them. The digest that trust is bound to, the question
// to the user and the forecast of a run are made from it, so none of them can miss what another has. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sabath/recipe.h"

namespace sabath {

struct Started {
  std::vector<std::string> words;  // what it is, then all that decides it
  std::string line;                // as a person would type it, whole; printable() shows it
};

// `steps`: the run set that was chosen. A new member of Recipe, Step or Requirements does not compile here before
// it is decided whether it starts anything.
[[nodiscard]] std::vector<Started> what_starts(const Recipe& recipe, const std::vector<Step>& steps);
// Of one script that a recipe offers for its data: it gets the recipe's variables, too.
[[nodiscard]] std::vector<Started> what_starts(const Recipe& recipe, const SupportingScript& script);

// For a digest: no two lists have the same words.
[[nodiscard]] std::vector<std::string> words_of(std::span<const Started> all);
[[nodiscard]] std::vector<std::string> lines_of(std::span<const Started> all);

}  // namespace sabath
