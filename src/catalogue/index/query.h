// What a user asks a catalogue for, and how well a recipe answers. Pure; any thread. Throws Error{usage} for a pattern
// that is none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "index/entry.h"
#include "index/shape.h"

namespace sabath {

struct RecipeFilter {
  std::vector<std::string> patterns = {};  // RE2 without regard to case; each must be found in a line of the text
  std::optional<AssetKind> kind = {};
  std::optional<AccessKind> access = {};
  std::vector<std::string> tags = {};  // "KEY=VALUE", or "KEY": a tag or a fact of that name
  std::string author = {};             // a part of a name, or an ORCID
  std::string licence = {}, doi = {}, format = {};
  std::string shape = {};  // "512,512,?,4", as shape.h reads it: an array of its recipe, or of its files, has it
  std::optional<std::uint64_t> size_min = {};  // of recipes that say their size
};

class RecipeQuery {
 public:
  explicit RecipeQuery(const RecipeFilter& filter);
  ~RecipeQuery();
  // 0: it is not meant; else the better the more: its name, its title, what else is said.
  [[nodiscard]] unsigned fit(const IndexEntry& entry) const;

 private:
  struct Term;
  [[nodiscard]] bool passes(const IndexEntry& entry) const;

  RecipeFilter filter_;
  std::vector<std::string> wanted_;  // lines of attributes
  std::optional<ShapePattern> shape_;
  std::vector<std::unique_ptr<const Term>> terms_;
};

}  // namespace sabath
