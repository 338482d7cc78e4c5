// Reads what a recipe of schema 1 says of derived data: the scripts that `apply` can run on it, and how it came to be
// itself. Inside src/recipe, but for right_value(). Pure; any thread. Throws Error{invalid} with file, line and key.
#pragma once

#include <optional>
#include <string>

#include "base/json_reader.h"
#include "sabath/recipe.h"

namespace sabath {

void read_supporting(JsonObject& object, Recipe& recipe);  // the keys supporting and derived

// The value of an argument in the one form that keys of derived assets have: 6 for "006", true for "1". nullopt: it is
// none of the type, or none of the choices.
[[nodiscard]] std::optional<std::string> right_value(const ScriptArgument& argument, const std::string& text);
[[nodiscard]] std::string_view type_name(ArgumentType type);

}  // namespace sabath
