// Datasets of schema.org as recipes: Croissant 1.0 and 1.1 of MLCommons, and the JSON-LD that pages have for search
// engines. Their files become fragments. Inside src/catalogue/recipe only. Pure but for what a document's file stands
// beside; any thread.
#pragma once

#include "base/json_reader.h"
#include "recipe/document.h"

namespace sabath {

// The node that describes a dataset: the document itself, or one of its list or graph. nullptr: there is none.
[[nodiscard]] const JsonValue* find_dataset(const JsonValue& document);

// Whether the document means to be one: it has a context, and conforms to Croissant or has such a node.
[[nodiscard]] bool is_croissant(const JsonValue& document);

// A hash that is none, or a size that is not in bytes, counts as not known, and `unknown` of the metadata says so.
// A document that names no file gives a recipe that is fetched by hand. Throws as try_read_document().
[[nodiscard]] DocumentRecipe read_dataset(const JsonValue& document, const DocumentPlace& place);

// A URL that stands in a document, by what the document may name. Throws Error{invalid} at `line`.
[[nodiscard]] Url url_in_document(const std::string& text, const DocumentPlace& place, std::size_t line);

// What a person must do where a document names no file.
[[nodiscard]] Access access_by_hand(const std::string& homepage);

}  // namespace sabath
