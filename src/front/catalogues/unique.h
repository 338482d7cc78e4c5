// Whether a recipe is new: two of one id, of one name and version, of one root or of the same sources would be two
// answers to one question. One thread. Throws Error{usage} that names the other, and what reading recipes throws.
#pragma once

#include <filesystem>
#include <string>

#include "sabath/recipe.h"
#include "sabath/session.h"

namespace sabath {

// `replaced`: the file that this recipe takes the place of; empty: none.
void check_unique(const SessionSettings& settings, const Recipe& recipe, const std::filesystem::path& replaced);

// The directory of what came with the program; empty: none is known.
[[nodiscard]] std::filesystem::path shipped_place(const SessionSettings& settings);

// A new id: "urn:uuid:" and a random UUID (RFC 9562, version 4).
[[nodiscard]] std::string new_asset_id();

}  // namespace sabath
