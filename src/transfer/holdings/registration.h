// Makes the name of a tree known to all who use the session's store: docs/store.md, "Registered names". One thread.
// Throws Error{content} if the name means another root, Error{usage} for what is no name, Error{space}, Error{storage}.
#pragma once

#include <optional>
#include <string>

#include "sabath/digest.h"
#include "sabath/recipe.h"
#include "sabath/session_settings.h"
#include "store/store.h"

namespace sabath {

struct Registration {
  std::string recipe;       // its text; empty: a recipe of a directory has the name
  std::string file;         // of the recipe that has the name
  bool leads_here = false;  // the recipe pins this root
};

// The same root again changes nothing. A recipe in a directory has the name before any registered one, and stays.
// `steps`: what a user has to do where content of the tree is lost.
Registration register_name(const SessionSettings& settings, Store& store, const std::string& name, const Sha256& root,
                           const std::string& steps, AssetKind kind = AssetKind::dataset);
// The same with the text of the recipe, which pins this root under this name.
Registration register_text(const SessionSettings& settings, Store& store, const std::string& name, const Sha256& root,
                           const std::string& text);
// Throws as register_name() would, before the work that a tree takes. `root`: nullopt: it is not known yet.
void check_free(const SessionSettings& settings, const std::string& name, const std::optional<Sha256>& root);
// A recipe that pins the root, for a directory of recipes.
[[nodiscard]] std::string recipe_text(const std::string& name, const Sha256& root, const std::string& steps,
                                      AssetKind kind = AssetKind::dataset);
void check_name(const std::string& name);  // before the work that its tree takes

}  // namespace sabath
