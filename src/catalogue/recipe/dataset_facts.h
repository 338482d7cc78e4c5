// What a dataset's node of schema.org says besides its files: name, title, licence, people, identifiers, variables.
// Inside src/catalogue/recipe only. Pure; any thread. Throws Error{invalid} for a node without a name.
#pragma once

#include <string_view>

#include "base/json_reader.h"
#include "sabath/metadata.h"

namespace sabath {

void read_dataset_facts(const JsonValue& document, std::string_view origin, Recipe& recipe, Metadata& data);

}  // namespace sabath
