// The keys of schema 1 that describe an asset for catalogues. Inside src/catalogue/recipe only. Pure; any thread.
// Throws Error{invalid} with file, line and key.
#pragma once

#include <memory>

#include "base/json_reader.h"
#include "sabath/metadata.h"

namespace sabath {

// Takes the keys; null where the recipe has none of them.
[[nodiscard]] std::shared_ptr<const Metadata> take_metadata(JsonObject& object, AssetKind kind);

// Shapes, for readers of other formats. The check digit of an ORCID is ISO 7064 11-2's.
[[nodiscard]] bool is_orcid(std::string_view text);
[[nodiscard]] bool is_doi(std::string_view text);   // 10.PREFIX/SUFFIX, no resolver in front
[[nodiscard]] bool is_date(std::string_view text);  // YYYY, YYYY-MM, YYYY-MM-DD of the calendar
[[nodiscard]] bool is_uri(std::string_view text);   // a scheme, a colon, and what RFC 3986 allows
[[nodiscard]] bool is_relation(std::string_view text);

}  // namespace sabath
