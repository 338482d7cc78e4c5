// The readers of src/catalogue/recipe/document.h, one for each kind of document. Inside src/catalogue/recipe only.
// Pure; any thread. Throws Error{invalid} with place and line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.h"
#include "recipe/document.h"

namespace sabath {

// A record in DataCite's JSON, bare or as the API wraps it. Without the URLs of its files it is fetched by its DOI.
[[nodiscard]] bool is_datacite(const JsonValue& document);
[[nodiscard]] DocumentRecipe read_datacite(const JsonValue& document, const DocumentPlace& place);

// The README.md of a repository of Hugging Face: YAML between two lines "---", and text. Of which repository it is, its
// address alone says.
[[nodiscard]] bool is_card(std::string_view text);
[[nodiscard]] DocumentRecipe read_card(std::string_view text, const DocumentPlace& place);

// The key lists that the papers on HPCFAIR print. They are no JSON: braces and commas are missing, a text may run over
// lines, and arrays hold pairs, which here become objects. Proper JSON of the same keys is read, too.
[[nodiscard]] bool is_key_list(std::string_view text);
[[nodiscard]] bool has_paper_keys(const JsonValue& document);  // the same, of JSON
[[nodiscard]] JsonValue parse_key_list(std::string_view text, std::string_view origin);
[[nodiscard]] DocumentRecipe read_key_list(const JsonValue& document, const DocumentPlace& place);

// The texts of a page's elements <script type="application/ld+json">, at most 100.
[[nodiscard]] std::vector<std::string_view> linked_data_of_page(std::string_view html);

}  // namespace sabath
