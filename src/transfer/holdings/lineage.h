// How an asset came to be, step by step, as recipes say it and the notes of manifests. One thread. Throws
// Error{storage}.
#pragma once

#include <optional>
#include <vector>

#include "recipe/catalogue.h"
#include "sabath/supporting.h"
#include "store/store.h"

namespace sabath {

// The newest step first; none: the asset is not derived. Where the recipe of an input is not known here, or is that of
// another version, the note of the input's manifest in `store` goes on; nullptr: the chain ends there.
[[nodiscard]] std::vector<DerivationStep> lineage_of(const Catalogue& catalogue, const Recipe& recipe,
                                                     const Store* store);
// The recipe of the dataset where it began, by recipes alone: what it offers may be run. nullopt: the asset is not
// derived, or that recipe is not known here.
[[nodiscard]] std::optional<Recipe> origin_of(const Catalogue& catalogue, const Recipe& recipe);

}  // namespace sabath
