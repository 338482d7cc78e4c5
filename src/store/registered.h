// Names that users made known to all who share a store: recipes/KIND/NAME.json, a recipe that pins a root. In a
// store of several users each has a room of his own, and a reader believes the rooms of owners whom he trusts.
// docs/store.md, "Registered names". Free functions; any thread. Throws Error{space}, Error{storage}, Error{usage}.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sabath/recipe.h"
#include "store/disk/owners.h"
#include "store/store.h"

namespace sabath {

inline constexpr std::size_t registered_names_max = 10'000;  // of one user

// Directories of recipes, this user's own first. `store` need not be one.
[[nodiscard]] std::vector<std::filesystem::path> registered_rooms(const std::filesystem::path& store,
                                                                  const Owners& owners);
// Durable when it returns; replaces this user's recipe of the name. Returns its file. `kind`: as the text says.
std::filesystem::path register_recipe(Store& store, const std::string& name, const std::string& text, AssetKind kind);
bool forget_recipe(Store& store, const std::string& name);  // of this user; false: there was none

}  // namespace sabath
