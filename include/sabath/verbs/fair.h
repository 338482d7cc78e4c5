// How findable, accessible, interoperable and reusable an asset is. docs/fair.md. One thread a session. Throws
// Error{not_found}, Error{invalid}.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"
#include "sabath/recipe.h"

namespace sabath {

class Session;

// The FAIR principles (Wilkinson et al. 2016), as far as they can be seen in a recipe.
struct FairPrinciple {
  std::string name;    // "F1"
  std::string answer;  // "yes", "part", "no"; "not asked": its sources were not
  std::string by;      // what says so; or what is missing
  std::string remedy;  // the change that would mend it, as `catalogue edit` takes it; empty: there is none
};

struct FairAsset {
  std::string name;
  AssetKind kind = AssetKind::dataset;
  std::vector<FairPrinciple> principles;  // F1 to R3
};

struct FairRequest {
  std::vector<std::string> names;  // whose sources are asked, unless offline; empty: all, and none is asked
};

struct FairRecord {
  std::vector<FairAsset> assets;
  int exit = 0;
};

[[nodiscard]] FairRecord fair(Session& session, const FairRequest& request, EventSink& events,
                              std::stop_token stop = {});
[[nodiscard]] std::string to_json(const FairRecord& record);

}  // namespace sabath
