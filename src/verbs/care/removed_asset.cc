#include "verbs/care/removed_asset.h"

#include "fetch/hosts/source_key.h"
#include "session/stores.h"
#include "verbs/assets/asset_names.h"
#include "verbs/assets/assets.h"

namespace sabath {

RemovedAsset asset_of(const std::string& name, const Sha256& root, const SessionSettings& settings) {
  const Catalogue catalogue = make_catalogue(settings);
  RemovedAsset asset{root, {}, {}, false};
  if (name.starts_with("sha256:")) return asset;  // under all its names
  const Recipe own = catalogue.find(name, std::nullopt);
  const SourceNames names = source_names(settings);
  const auto add = [&](const Recipe& recipe, std::set<Sha256>& keys) {
    for (const auto& key : keys_of(recipe, names)) keys.insert(key);
    keys.insert(pinned_key(recipe, root));
  };
  add(own, asset.keys);
  for (const auto& listed : catalogue.all(std::nullopt)) {
    if (!listed.recipe || listed.recipe->name == own.name) continue;
    add(*listed.recipe, asset.others);
    asset.pinned_elsewhere |= listed.recipe->manifest && listed.recipe->manifest->digest == root;
  }
  return asset;
}

}  // namespace sabath
