// The repositories of a hub that an asset's tree is, or is to be called. One thread. Throws Error{usage} with what to
// do for a tree that no hub gave and that has no name of one, Error{storage}.
#pragma once

#include <string>
#include <vector>

#include "hub/holdings.h"
#include "sabath/recipe.h"

namespace sabath {

// `recipe`: of the asset, nullptr where its root alone is known. `repository`: "[datasets/]OWNER/NAME" for a tree that
// no hub gave; empty: as the hub called it.
[[nodiscard]] std::vector<HubAsset> hub_assets(Store& store, const Recipe* recipe, const Sha256& root,
                                               const std::string& repository);

}  // namespace sabath
