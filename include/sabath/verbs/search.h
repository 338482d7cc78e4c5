// Assets by what their recipes and files say. Nothing is fetched. One thread
// a session. Throws Error{not_found} with a suggestion, Error{usage}, Error{invalid}, Error{storage}.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/environment.h"
#include "sabath/verbs/list.h"

namespace sabath {

class Session;

struct SearchRequest {
  std::string pattern;  // RE2; upper and lower case are the same; empty: any, if something else is asked
  std::optional<AssetKind> kind = {};
  std::vector<std::string> more = {};  // patterns: each must be found, too
  std::optional<AccessKind> access = {};
  std::vector<std::string> tags = {};                            // "KEY=VALUE", or "KEY": a tag or a fact of the recipe
  std::string author = {}, licence = {}, doi = {}, format = {};  // author: a part of a name, or an ORCID
  std::string shape = {};                                        // "512,512,512,4": of an array
  std::optional<std::uint64_t> size_min = {};                    // bytes of all fragments, where the recipe says them
  std::uint64_t limit = 100;                                     // of the answers, at most 10,000
  Environment environment = {};  // its HOME and XDG_CACHE_HOME say where the index stands
};

// By names, titles, abstracts, descriptions, facts, tags, keywords, creators. The best fit first, then what is stored,
// then what was used last. Where nothing matches, `exit` is that of not_found. It keeps an index of the recipes, which
// is a cache and nothing else.
[[nodiscard]] ListRecord search(Session& session, const SearchRequest& request, EventSink& events,
                                std::stop_token stop = {});

}  // namespace sabath
