#include "session/stores.h"

#include "store/lookup.h"

namespace sabath {

void look_into_others(Store& store, const SessionSettings& settings) {
  Lookup lookup{settings.other_stores, {}};
  lookup.trusted.assign(settings.trusted_owners.begin(), settings.trusted_owners.end());
  look_also(store, lookup);
  store.work_for(settings.job);
}

std::unique_ptr<Store> try_open_store(const std::filesystem::path& directory) {
  try {
    return Store::open(directory, false);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::not_found) throw;
    return nullptr;
  }
}

std::unique_ptr<Store> open_store_of(const SessionSettings& settings, bool create) {
  auto store = Store::open(settings.store, create);
  look_into_others(*store, settings);
  return store;
}

}  // namespace sabath
