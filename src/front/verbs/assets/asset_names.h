// Names for the trees of a store, from the recipes that are known here. One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "recipe/catalogue.h"
#include "sabath/digest.h"
#include "store/disk/store_values.h"

namespace sabath {

// Those under which a store knows what it learnt of the asset and of its fragments.
[[nodiscard]] std::vector<Sha256> keys_of(const Recipe& recipe, const SourceNames& names);
[[nodiscard]] std::vector<Sha256> keys_of(const Fragment& fragment, const SourceNames& names);

class AssetNames {
 public:
  AssetNames(const Catalogue& catalogue, const SourceNames& names);
  // The name of the asset, or "NAME:FRAGMENT"; else the source without what hides in it; else the root's first digits.
  [[nodiscard]] std::string of(const Sha256& root, const std::vector<Sha256>& keys, const std::string& source) const;

 private:
  std::map<Sha256, std::string> by_key_, by_root_;
};

}  // namespace sabath
