// What `list` and `search` say of an asset, and the keys that both take. One thread.
#pragma once

#include <optional>

#include "base/json_reader.h"
#include "holdings/holding.h"
#include "sabath/catalogue.h"

namespace sabath {

[[nodiscard]] AssetSummary stored_summary(const Recipe& recipe, Store* store);
[[nodiscard]] std::optional<AssetKind> kind_in(JsonObject& request);
[[nodiscard]] std::optional<AccessKind> access_in(JsonObject& request);

}  // namespace sabath
