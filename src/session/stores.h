// The stores that settings name: one that is written to, and others that are looked into. Throws as Store::open().
#pragma once

#include <memory>

#include "comm/comm.h"
#include "sabath/session.h"
#include "store/store.h"

namespace sabath {

[[nodiscard]] std::unique_ptr<Store> open_store_of(const SessionSettings& settings, bool create);
// nullptr: there is none.
[[nodiscard]] std::unique_ptr<Store> try_open_store(const std::filesystem::path& directory);
// The same for a store that is open already.
void look_into_others(Store& store, const SessionSettings& settings);

}  // namespace sabath
