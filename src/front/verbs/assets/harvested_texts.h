// What files in a store say of themselves, beside what the recipes of the index say. One thread.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "index/entry.h"
#include "index/query.h"
#include "store/disk/layout.h"

namespace sabath {

class HarvestedTexts {
 public:
  explicit HarvestedTexts(const Layout& layout);
  // As RecipeQuery::fit(), of a recipe with what its files say.
  [[nodiscard]] unsigned fit(const RecipeQuery& query, const IndexEntry& entry) const;

 private:
  struct Texts {
    std::string text, lower, attributes;  // as in IndexEntry
  };
  std::map<std::pair<AssetKind, std::string>, Texts> all_;  // by kind, and name in lower case
};

}  // namespace sabath
