// Documents of other standards that describe an asset, as recipes: Croissant 1.0 and 1.1, schema.org's Dataset
// (JSON-LD, also inside a web page), DataCite's records, Hugging Face's cards, and the key lists that the papers on
// HPCFAIR print. A context is never loaded from anywhere: its terms are known, or what it says is not understood. Pure
// but for the working directory, which a relative name of a document's file refers to; any thread. Documents are
// hostile until read: at most 4 MiB, and 32 levels deep.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/recipe.h"

namespace sabath {

struct DocumentPlace {
  std::string origin;  // its name, for messages
  // Where it was read: relative URLs stand beside it; absent: a file of this machine. What it names is named by those
  // who are noted in it.
  std::optional<Url> url = {};
};

struct DocumentRecipe {
  Recipe recipe;
  std::string standard;                  // "Croissant", "schema.org", "DataCite", "a card", "HPCFAIR"
  std::vector<std::string> passed_over;  // "FILE:12: recordSet": what is not understood, at most 100
};

// nullopt: the text is no such document (a recipe of our own, for one). Throws Error{invalid} with place and line for
// one that is, and cannot be read: of another version, with a path that leaves its directory, with a file of this
// machine in a document that came from elsewhere.
[[nodiscard]] std::optional<DocumentRecipe> try_read_document(std::string_view text, const DocumentPlace& place);

// A recipe of schema 1 as the text of its file: parse_recipe() reads the same from it, but for how it runs and how its
// hosts may be asked: run sets, scripts, code beside it, requirements, configuration and limits are not written.
// `pages`: where it was read, noted as such.
[[nodiscard]] std::string text_of_recipe(const Recipe& recipe, const std::optional<Url>& page = {});

}  // namespace sabath
