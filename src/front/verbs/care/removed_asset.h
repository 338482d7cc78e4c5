// What the store calls an asset, and all others that the recipes name: for its room and for its removal. One thread.
#pragma once

#include <string>

#include "sabath/session.h"
#include "store/collect/removal.h"

namespace sabath {

// `name`: as the user wrote it, or "sha256:<hex>".
[[nodiscard]] RemovedAsset asset_of(const std::string& name, const Sha256& root, const SessionSettings& settings);

}  // namespace sabath
