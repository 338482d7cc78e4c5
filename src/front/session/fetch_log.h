// The store's log of fetches: what, when and from where; one JSON line for each asset. Any thread.
#pragma once

#include "sabath/session.h"

namespace sabath {

class Store;

void append_to_log(Store& store, const AssetRecord& record);

}  // namespace sabath
