// The recipe inside a JSON-LD document that SABATH wrote of it: its text as one term, and a sum over the document, so
// that the same recipe comes back. Of a document that was changed since then the terms count, as in any other document.
// How an asset runs is not in it: a document brings no code. Pure; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "recipe/document.h"

namespace sabath {

// Last, when the document has all else. `recipe`: without URLs that must not be shown.
void enclose_recipe(nlohmann::ordered_json& document, const Recipe& recipe);

// nullopt: there is none, or the document was changed. `text`: JSON that was read already, within its bounds. Throws
// Error{invalid} for a recipe that is none.
[[nodiscard]] std::optional<DocumentRecipe> try_read_enclosed(std::string_view text, const DocumentPlace& place);

}  // namespace sabath
