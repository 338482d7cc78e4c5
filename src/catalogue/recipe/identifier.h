// Identifiers of assets: a recipe's id, which is a URI, and its DOI in any spelling. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "sabath/recipe.h"

namespace sabath {

[[nodiscard]] bool is_identifier(std::string_view text);  // a URI or a DOI; no name of an asset is one
// The same text for all spellings of one: "doi:10.1234/a" of a DOI, a URN in lower case.
[[nodiscard]] std::string plain_identifier(std::string_view text);

enum class Identity { none, doi, id };  // several recipes may have a DOI: parts of one record
[[nodiscard]] Identity identity_of(const Recipe& recipe, std::string_view plain);

}  // namespace sabath
