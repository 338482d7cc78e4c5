// What the writers share: identifiers, licences, people, places of bytes. Inside src/catalogue/metadata only.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "metadata/documents.h"

namespace sabath::terms {

using Json = nlohmann::ordered_json;

inline constexpr std::string_view sabath_namespace = "https://sabath.example/terms#";      // no page is there
inline constexpr std::string_view hpc_namespace = "https://hpc-fair.github.io/ontology#";  // HPC Ontology 1.0.0

// The recipe's id, else its DOI as a URL, else nothing.
[[nodiscard]] std::string identity(const Recipe& recipe);
[[nodiscard]] std::string doi_url(std::string_view doi);
// Of one SPDX identifier the page of SPDX; nothing for an expression of several, or where none is known.
[[nodiscard]] std::string licence_url(const Recipe& recipe);
[[nodiscard]] std::string title(const Recipe& recipe);    // else the name
[[nodiscard]] std::string summary(const Recipe& recipe);  // abstract, description, title or name: the first there is
// schema.org's Person or Organization; the keys begin with `prefix`.
[[nodiscard]] Json person(const Party& party, const std::string& prefix);
// URLs of a fragment but for those whose query may be a key.
[[nodiscard]] std::vector<std::string> places(const Fragment& fragment);
[[nodiscard]] std::string media_type(const Fragment& fragment, const Metadata& data);
[[nodiscard]] std::vector<std::string> bibtex_entries(const Recipe& recipe);  // of its citations those in BibTeX

void put(Json& object, const std::string& key, Json value);  // unless it is null or empty
[[nodiscard]] Json reference(std::string_view id);           // {"@id": ...}
[[nodiscard]] std::string text_of_document(const Json& document);

}  // namespace sabath::terms
