// The stores that settings name: one to write to, and others to look into. Throws as Store::open().
#pragma once

#include <memory>

#include "sabath/comm.h"
#include "sabath/session_settings.h"
#include "store/store.h"

namespace sabath {

[[nodiscard]] std::unique_ptr<Store> open_store_of(const SessionSettings& settings, bool create);
// nullptr: there is none.
[[nodiscard]] std::unique_ptr<Store> try_open_store(const std::filesystem::path& directory);
// The names of URLs by this user's settings: as they are asked for after rewrite rules, and where that leads.
[[nodiscard]] SourceNames source_names(const SessionSettings& settings);
// The same as open_store_of() for a store that is open already.
void look_into_others(Store& store, const SessionSettings& settings);

}  // namespace sabath
