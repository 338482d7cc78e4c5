#include "verbs/care/removed_asset.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "fetch/hosts/source_key.h"
#include "holdings/stores.h"
#include "verbs/assets/asset_names.h"
#include "verbs/assets/assets.h"

namespace sabath {
namespace {

std::vector<Sha256> parts_keys(const Recipe& recipe) {
  std::vector<Sha256> keys{parts_key(recipe)};
  for (const auto& fragment : recipe.fragments) {
    if (!fragment.urls.empty()) keys.push_back(parts_key(fragment));
  }
  return keys;
}

}  // namespace

RemovedAsset asset_of(const std::string& name, const Sha256& root, const SessionSettings& settings) {
  const Catalogue catalogue = make_catalogue(settings);
  RemovedAsset asset{root, {}, {}, false, {}, {}};
  if (name.starts_with("sha256:")) return asset;  // under all its names
  asset.name = name;
  const Recipe own = catalogue.find(name, std::nullopt);
  const SourceNames names = source_names(settings);
  const auto add = [&](const Recipe& recipe, std::set<Sha256>& keys) {
    for (const auto& key : keys_of(recipe, names)) keys.insert(key);
    keys.insert(pinned_key(recipe, root));
  };
  std::vector<Sha256> parts = parts_keys(own), others;
  add(own, asset.keys);
  for (const auto& listed : catalogue.all(std::nullopt)) {
    if (!listed.recipe || listed.recipe->name == own.name) continue;
    add(*listed.recipe, asset.others);
    std::ranges::copy(parts_keys(*listed.recipe), std::back_inserter(others));
    asset.pinned_elsewhere |= listed.recipe->manifest && listed.recipe->manifest->digest == root;
  }
  asset.is_part = [parts = std::move(parts), others = std::move(others)](const Sha256& part,
                                                                         const std::vector<Sha256>& keys) {
    const auto names = [&](const Sha256& of) { return std::ranges::find(keys, part_key(of, part)) != keys.end(); };
    return std::ranges::any_of(parts, names) && std::ranges::none_of(others, names);
  };
  return asset;
}

}  // namespace sabath
