#include "recipe/held_names.h"

#include <algorithm>
#include <system_error>

#include "base/file.h"
#include "recipe/parse.h"
#include "recipe/recipe_file.h"
#include "sabath/error.h"

namespace sabath {

std::optional<Recipe> HeldNames::try_read(const std::filesystem::path& file, AssetKind kind) const {
  try {
    if (!try_lstat(file)) return std::nullopt;
    Recipe recipe = parse_recipe(read_registered(file, owners_), file.native(), kind);
    const bool right = recipe.kind == kind && recipe.manifest && recipe.name == file.stem().native();
    return right ? std::optional(std::move(recipe)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // a note may be lost at any time
  }
}

std::optional<Recipe> HeldNames::try_find(const std::string& name, const std::optional<std::string>& version,
                                          std::optional<AssetKind> kind) const {
  if (!is_name(name)) return std::nullopt;
  for (const KindName& each : kind_names) {
    if (kind && each.kind != *kind) continue;
    for (const auto& room : rooms_) {
      auto recipe = try_read(room / each.folder / (name + ".json"), each.kind);
      if (recipe && (!version || recipe->version == *version)) return recipe;
    }
  }
  return std::nullopt;
}

std::vector<Recipe> HeldNames::all(std::optional<AssetKind> kind) const {
  std::vector<Recipe> recipes;
  for (const KindName& each : kind_names) {
    if (kind && each.kind != *kind) continue;
    for (const auto& room : rooms_) {
      std::error_code none;
      for (const auto& entry : std::filesystem::directory_iterator(room / each.folder, none)) {
        if (entry.path().extension() != ".json") continue;
        if (auto recipe = try_read(entry.path(), each.kind)) recipes.push_back(std::move(*recipe));
      }
    }
  }
  std::ranges::sort(recipes, {}, &Recipe::name);
  return recipes;
}

bool HeldNames::has(const Recipe& recipe) const {
  const std::filesystem::path room = std::filesystem::path(recipe.origin).parent_path().parent_path();
  return std::ranges::find(rooms_, room) != rooms_.end();
}

}  // namespace sabath
