// The recipe of an asset that its user may change, and its file. Inside src/front/verbs/catalogues only.
#pragma once

#include <filesystem>
#include <string>

#include "sabath/recipe.h"
#include "sabath/session.h"

namespace sabath {

struct OwnRecipe {
  Recipe recipe;
  std::filesystem::path file;
  std::string text;
  bool registered = false;  // it stands in the store, where `adopt`, `apply` and others wrote it
};

// Throws Error{usage}, Error{access} with the reason for one that is another's, Error{not_found}.
[[nodiscard]] OwnRecipe own_recipe(const SessionSettings& settings, const std::string& name);
// Reads a text as the recipe of this file, which it then is.
[[nodiscard]] Recipe recipe_of_text(const std::string& text, const std::filesystem::path& file, AssetKind kind);
// Writes `text` over what stands there; durable when it returns.
void write_own_recipe(const SessionSettings& settings, const OwnRecipe& own, const std::string& text);

}  // namespace sabath
