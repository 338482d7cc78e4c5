// Documents at URLs that a user names, which may describe an asset: read once in a call, before there is a store.
// One thread. Throws what the fetcher throws, but for a document that is not there, and Error{invalid} for one that
// describes an asset and cannot be read.
#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "fetch/decide/rewrite.h"
#include "recipe/document.h"
#include "sabath/error.h"
#include "sabath/fetcher.h"

namespace sabath {

// Whether a file of this name may be such a document: JSON, a page, a card. Others are data.
[[nodiscard]] bool may_describe(const Url& url);

class UrlDocuments {
 public:
  struct Found {
    std::optional<DocumentRecipe> recipe;
    bool leads_on = false;            // a page whose links name the items of a data set (Signposting)
    std::optional<Error> error = {};  // why it cannot be read
  };

  // What stands at `url`: none of both where that is something else, or cannot be read. At most 4 MiB are. Of a URL
  // that is listed: by what its source describes it.
  [[nodiscard]] const Found& at(const Url& url, const FetcherSet& fetchers, const RewriteRules& rewrites,
                                const std::stop_token& stop = {});

 private:
  std::map<std::string, Found> read_;
};

}  // namespace sabath
