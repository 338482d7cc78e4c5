// The store's log of fetches: what, when and from where; one JSON line for each asset. Any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sabath/fetch.h"
#include "sabath/session.h"

namespace sabath {

class Store;

// The asset's part of `fetch --json`, in the order of docs/records.md; absent things are null.
[[nodiscard]] nlohmann::ordered_json to_json(const AssetRecord& record);
void append_to_log(Store& store, const AssetRecord& record);

}  // namespace sabath
