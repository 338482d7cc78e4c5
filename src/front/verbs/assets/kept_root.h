// Finds the tree of the store that a user wants to keep. One thread. Throws Error{not_found}, Error{offline}.
#pragma once

#include <memory>
#include <string>

#include "sabath/digest.h"
#include "sabath/session.h"
#include "store/store.h"

namespace sabath {

// Throws Error{offline} where there is no store: keeping nothing needs none.
[[nodiscard]] std::unique_ptr<Store> open_existing_store(const SessionSettings& settings);
// "sha256:<hex>", or an asset's name: the version that the store holds.
[[nodiscard]] Sha256 kept_root(const std::string& name, const SessionSettings& settings, Store& store);

}  // namespace sabath
