#include "verbs/assets/asset_names.h"

#include <fmt/format.h>

#include "fetch/hosts/source_key.h"
#include "sabath/path.h"

namespace sabath {

std::vector<Sha256> keys_of(const Fragment& fragment, const SourceNames& names) {
  if (fragment.urls.empty()) return {};
  std::vector<Sha256> keys{source_key(fragment, names)};
  for (std::size_t i = 0; i < fragment.urls.size(); ++i) keys.push_back(given_key(fragment, i, names));
  return keys;
}

std::vector<Sha256> keys_of(const Recipe& recipe, const SourceNames& names) {
  std::vector<Sha256> keys{source_key(recipe, names), earlier_key(recipe), said_key(recipe)};
  for (const auto& fragment : recipe.fragments) {
    for (const auto& key : keys_of(fragment, names)) keys.push_back(key);
  }
  return keys;
}

AssetNames::AssetNames(const Catalogue& catalogue, const SourceNames& names) {
  for (const auto& listed : catalogue.all(std::nullopt)) {
    if (!listed.recipe) continue;
    const Recipe& recipe = *listed.recipe;
    if (recipe.manifest) by_root_.emplace(recipe.manifest->digest, recipe.name);
    by_key_.emplace(source_key(recipe, names), recipe.name);
    by_key_.emplace(earlier_key(recipe), recipe.name);
    for (const auto& fragment : recipe.fragments) {
      const std::string name = fmt::format("{}:{}", recipe.name, fragment.id);
      for (const auto& key : keys_of(fragment, names)) by_key_.emplace(key, name);
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
