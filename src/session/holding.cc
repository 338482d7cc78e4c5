#include "session/holding.h"

#include "base/file.h"
#include "fetch/hosts/source_key.h"
#include "session/stores.h"
#include "store/lookup.h"

namespace sabath {

Catalogue make_catalogue(const SessionSettings& settings) { return {settings.roots, settings.recipe_directories}; }

std::unique_ptr<Store> try_open_store(const SessionSettings& settings) {
  if (!try_stat(settings.store)) return nullptr;
  return open_store_of(settings, false);
}

std::unique_ptr<Store> open_stores(const SessionSettings& settings) { return open_store_of(settings, true); }

Holding holding_of(const Recipe& recipe, Store* store) {
  Holding holding;
  if (recipe.manifest) {
    holding.root = recipe.manifest->digest;
    holding.trusted_by = "pinned";
  }
  if (store == nullptr) return holding;
  if (const auto learnt = learnt_of(*store, recipe); learnt && (!holding.root || learnt->ref.root == *holding.root)) {
    holding.root = learnt->ref.root;
    holding.trusted_by = learnt->ref.trusted_by;
    holding.source = learnt->ref.source;
    holding.doubt = recipe.manifest ? "" : learnt->doubt;
  }
  if (!holding.root) return holding;
  holding.has_manifest = store->manifest(*holding.root).has_value();
  if (const auto view = standing_view(*store, *holding.root)) holding.view = *view;
  return holding;
}

}  // namespace sabath
