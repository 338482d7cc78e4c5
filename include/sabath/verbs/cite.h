// How an asset is cited. Nothing is made, changed or fetched. One thread
// a session. Throws Error{not_found} with a suggestion, Error{usage}, Error{invalid}, Error{storage}.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"

namespace sabath {

class Session;

struct CiteRequest {
  std::vector<std::string> names;
};

struct AssetCitations {
  std::string name;
  std::vector<std::string> citations;  // at least one, of several lines each
};

struct CiteRecord {
  std::vector<AssetCitations> assets;
  int exit = 0;
};

// Error{not_found} where a recipe has no citation.
[[nodiscard]] CiteRecord cite(Session& session, const CiteRequest& request, EventSink& events,
                              std::stop_token stop = {});
[[nodiscard]] std::string to_json(const CiteRecord& record);

}  // namespace sabath
