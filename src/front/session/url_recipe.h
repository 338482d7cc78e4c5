// A recipe for a URL that a user names instead of an asset. The same URL always means the same recipe: one that is
// known already, or a new one of a free name. One thread. Throws Error{usage} for a name that is taken or no name, and
// for a URL with a key in it; Error{unavailable} for a scheme that this build does not read; Error{invalid} for a
// malformed URL.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "recipe/catalogue.h"
#include "sabath/event.h"
#include "sabath/fetcher.h"
#include "sabath/recipe.h"
#include "session/url_document.h"

namespace sabath {

struct UrlRecipe {
  Recipe recipe;
  std::string text;       // of its file, to be written; empty: it is known already
  std::string note = {};  // of which document it was made, and what of it is not understood; empty: of none
};

using DocumentAt = std::function<UrlDocuments::Found(const Url& url)>;

[[nodiscard]] bool names_source(std::string_view word);  // a URL, or "zenodo:1234": no name and no path

// `name`: of the user's choice; empty: the URL's own. Writes nothing. `document_at` is asked of a URL that is not known
// and may be that of a document; empty: nothing is asked. https://doi.org/10.1234/a is doi:10.1234/a.
[[nodiscard]] UrlRecipe recipe_for(std::string_view url, const std::string& name, const Catalogue& known,
                                   const FetcherSet& fetchers, const DocumentAt& document_at = {});

// The first of these directories that can be written; the last one need not be there. Throws Error{usage} for none.
[[nodiscard]] std::filesystem::path home_for_recipes(const std::vector<std::filesystem::path>& homes);

// Writes it into `home`, and says so. Throws Error{storage}, Error{space}; never over a file that stands there.
std::filesystem::path write_recipe(const UrlRecipe& made, const std::filesystem::path& home, EventSink& events);

}  // namespace sabath
