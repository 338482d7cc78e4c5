// Reads recipes, schema 0 (the original SABATH's JSON) and schema 1 (ours), strictly: every error names the file, the
// line and the key; an unknown key is refused with a suggestion. Pure; any thread. Throws Error{invalid}.
#pragma once

#include <string>
#include <string_view>

#include "sabath/recipe.h"

namespace sabath {

inline constexpr std::size_t recipe_size_max = 4 * 1024 * 1024;  // bytes
inline constexpr unsigned recipe_depth_max = 32;                 // nested arrays and objects

// `origin`: the file's name for messages; schema 0 does not state its kind, so `kind` (from the folder) decides there.
[[nodiscard]] Recipe parse_recipe(std::string_view json, const std::string& origin, AssetKind kind);

// Of an asset: [A-Za-z0-9][A-Za-z0-9._+-]*, at most 128 bytes.
[[nodiscard]] bool is_name(std::string_view text);

}  // namespace sabath
