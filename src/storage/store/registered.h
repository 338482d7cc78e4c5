// Names that users made known to all who share a store: recipes/KIND/NAME.json, a recipe that pins a root. In a
// store of several users each has a room of his own, and a reader believes the rooms of owners whom he trusts. Names
// under which content came by a recipe of a directory are noted below held/, for when that recipe is not at hand.
// docs/store.md, "Registered names". Free functions; any thread. Throws Error{space}, Error{storage}, Error{usage}.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sabath/recipe.h"
#include "store/disk/owners.h"
#include "store/state.h"

namespace sabath {

inline constexpr std::size_t registered_names_max = 10'000;  // of one user

// Directories of recipes, this user's own first. `store` need not be one.
[[nodiscard]] std::vector<std::filesystem::path> registered_rooms(const std::filesystem::path& store,
                                                                  const Owners& owners);
// Durable when it returns; replaces this user's recipe of the name. Returns its file. `kind`: as the text says.
std::filesystem::path register_recipe(Store& store, const std::string& name, const std::string& text, AssetKind kind);
bool forget_recipe(Store& store, const std::string& name);  // of this user; false: there was none

[[nodiscard]] std::filesystem::path held_room(const std::filesystem::path& room);  // of a registered one
// A note that is right is not written again; one that cannot be written is no error.
void note_held(Store& store, const std::string& name, const std::string& text, AssetKind kind) noexcept;
[[nodiscard]] std::vector<std::filesystem::path> lost_held(
    const Store::State& store);  // of this user; the asset is gone

}  // namespace sabath
