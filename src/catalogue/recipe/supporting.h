// Reads what a recipe of schema 1 says of derived data: the scripts that `apply` can run on it, and how it came to be
// itself. Pure; any thread. Throws Error{invalid} with file, line and key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "sabath/recipe.h"

namespace sabath {

void read_supporting(JsonObject& object, Recipe& recipe);  // the keys supporting and derived

// The note that a derived asset's manifest carries, {"derived": STEP}, and the step that a note names. nullopt: it
// names none that can be read; other keys are not looked at. Anybody may have written the note.
[[nodiscard]] std::string note_of(const DerivationStep& step);
[[nodiscard]] std::optional<DerivationStep> derivation_in(std::string_view note);

// The value of an argument in the one form that keys of derived assets have: 6 for "006", true for "1". nullopt: it is
// none of the type, or none of the choices.
[[nodiscard]] std::optional<std::string> right_value(const ScriptArgument& argument, const std::string& text);
[[nodiscard]] std::string_view type_name(ArgumentType type);

}  // namespace sabath
