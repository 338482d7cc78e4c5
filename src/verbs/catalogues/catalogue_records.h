// The records of the verbs on catalogues as the JSON that `--json` prints. Pure; any thread.
#pragma once

#include "sabath/catalogues.h"
#include "sabath/fair.h"
#include "sabath/pinning.h"
#include "verbs/verb.h"

namespace sabath {

[[nodiscard]] Json json_of(const RecipeRecord& record);
[[nodiscard]] Json json_of(const PinnedRecipeRecord& record);
[[nodiscard]] Json json_of(const Tombstone& stone);
[[nodiscard]] Json json_of(const RemovedRecipeRecord& record);
[[nodiscard]] Json json_of(const ExportedCatalogueRecord& record);
[[nodiscard]] Json json_of(const SubscriptionsRecord& record);
[[nodiscard]] Json json_of(const FairRecord& record);

}  // namespace sabath
