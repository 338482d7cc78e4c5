#include "verbs/assets/asset_names.h"

#include <fmt/format.h>

#include "fetch/hosts/source_key.h"
#include "sabath/path.h"

namespace sabath {

AssetNames::AssetNames(const Catalogue& catalogue, const SourceNames& names) {
  for (const auto& listed : catalogue.all(std::nullopt)) {
    if (!listed.recipe) continue;
    const Recipe& recipe = *listed.recipe;
    if (recipe.manifest) by_root_.emplace(recipe.manifest->digest, recipe.name);
    by_key_.emplace(source_key(recipe, names), recipe.name);
    by_key_.emplace(earlier_key(recipe), recipe.name);
    for (const auto& fragment : recipe.fragments) {
      if (fragment.urls.empty()) continue;
      const std::string name = fmt::format("{}:{}", recipe.name, fragment.id);
      by_key_.emplace(source_key(fragment, names), name);
      for (std::size_t i = 0; i < fragment.urls.size(); ++i) by_key_.emplace(given_key(fragment, i, names), name);
    }
  }
}

std::string AssetNames::of(const Sha256& root, const std::vector<Sha256>& keys, const std::string& source) const {
  if (const auto found = by_root_.find(root); found != by_root_.end()) return printable(found->second);
  std::string name;
  for (const auto& key : keys) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) continue;
    // An asset of one fragment has two keys: its own name is the shorter one.
    if (name.empty() || found->second.size() < name.size()) name = found->second;
  }
  if (!name.empty()) return printable(name);
  return source.empty() ? fmt::format("sha256:{}...", root.hex().substr(0, 12)) : printable(source);
}

}  // namespace sabath
