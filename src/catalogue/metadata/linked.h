// The terms of our JSON-LD documents. Inside src/catalogue/metadata only.
#pragma once

#include "metadata/terms.h"

namespace sabath::linked {

[[nodiscard]] terms::Json context();
[[nodiscard]] terms::Json head(const Recipe& recipe);  // "@context", and "@id" if the recipe has one
// The recipe itself, so that it comes back from the document: recipe/enclosed.h. Last of all.
void enclose(terms::Json& document, const Recipe& recipe);
[[nodiscard]] terms::Json types(AssetKind kind);
[[nodiscard]] std::string relation_term(std::string_view relation);  // of Dublin Core or PROV-O
[[nodiscard]] terms::Json target(const std::string& target);  // a URI as a node, a recipe's name as one with a name

}  // namespace sabath::linked
