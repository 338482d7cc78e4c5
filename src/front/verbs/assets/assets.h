// Look-ups that several verbs need: the recipes of assets, and what this store holds of them. One thread.
#pragma once

#include <optional>
#include <string>

#include "holdings/holding.h"
#include "manifest/manifest.h"
#include "sabath/recipe.h"
#include "sabath/session_settings.h"

namespace sabath {

// A manifest by file name, "sha256:<hex>", or asset name. Throws Error{not_found}, Error{offline}, Error{invalid}.
[[nodiscard]] Manifest find_manifest(const std::string& text, const SessionSettings& settings);
// Of an asset in the store. Throws Error{offline} with what to do when the store has none.
[[nodiscard]] Manifest manifest_of(const Recipe& recipe, Store* store);

}  // namespace sabath
