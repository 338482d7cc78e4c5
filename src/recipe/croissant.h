// Croissant 1.0 and 1.1 of MLCommons as a recipe: its FileObjects become fragments. Inside src/recipe only. Pure but
// for the working directory, which a relative name of the document's file refers to; any thread.
#pragma once

#include <string_view>

#include "base/json_reader.h"
#include "sabath/recipe.h"

namespace sabath {

// Whether a JSON document means to be one: it has a context, and conforms to Croissant or is a Dataset of schema.org.
[[nodiscard]] bool is_croissant(const JsonValue& document);

// Keys that SABATH does not use are passed over, as the standard wants. A hash that is none, or a size that is not in
// bytes, counts as not known, and `unknown` of the metadata says so. Relative URLs stand beside the document's file.
// Throws Error{invalid} with file and line: of another version, without a file to fetch, of a path that leaves the
// document's directory, of a file of this machine.
[[nodiscard]] Recipe read_croissant(const JsonValue& document, std::string_view origin);

}  // namespace sabath
