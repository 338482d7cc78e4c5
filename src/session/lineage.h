// How an asset came to be, step by step, as the recipes say it. One thread. Throws Error{storage}.
#pragma once

#include <optional>
#include <vector>

#include "recipe/catalogue.h"
#include "sabath/supporting.h"

namespace sabath {

// The newest step first; none: the asset is not derived. The chain ends where the recipe of an input is not known here,
// or is that of another version.
[[nodiscard]] std::vector<DerivationStep> lineage_of(const Catalogue& catalogue, const Recipe& recipe);
// The recipe of the dataset where it began; nullopt: the asset is not derived, or that recipe is not known here.
[[nodiscard]] std::optional<Recipe> origin_of(const Catalogue& catalogue, const Recipe& recipe);

}  // namespace sabath
