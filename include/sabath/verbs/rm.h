// Assets go from the session's store when a user says so: what no other asset, and no other member of a shared store,
// needs is freed. Recipes and pins stay.
// One thread; safe beside all other work on the store. Throws Error{offline} if the store does not hold an asset,
// Error{usage} if it is pinned, Error{storage} if this user is using it, Error{not_found}, Error{space},
// Error{interrupted}.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"

namespace sabath {

class Session;

struct RemovalRequest {
  std::vector<std::string> names = {};  // assets, or roots as "sha256:<hex>"
  bool now = false;     // what no source can restore is deleted, too; else it goes to the trash for a day
  bool forget = false;  // the name that `adopt` or `import` made known is free again
};

struct RemovedContent {
  std::string name, manifest;      // "sha256:<hex>"; empty: only the name was there
  std::uint64_t freed_bytes = 0;   // on the disk: what `usage` counts less from now on
  std::uint64_t trash_bytes = 0;   // in the trash: the next collection with `now` frees it, its undo brings it back
  std::uint64_t shared_bytes = 0;  // stays, as other assets need it
  std::uint64_t parts = 0;         // parts that had been chosen of it (a sample, a selection) and went with it
  // Other members of a shared store use it: this user's view and name of it are gone, and these bytes stay.
  std::uint64_t used_bytes = 0;
  std::vector<unsigned> users;  // who they are
  std::string used_by;          // the same for people; empty: none
  std::int64_t until_ns = 0;    // when that use ends, in nanoseconds since 1970; 0: a view is left, which root removes
  std::string waiting;          // why the trash could not be emptied; may be empty
  std::string kept;             // why nothing went; may be empty
  bool forgotten = false;       // the registered name
};

struct RemovalRecord {
  std::vector<RemovedContent> assets;
  int exit = 0;
};

// If one of several fails, those before it are gone.
[[nodiscard]] RemovalRecord rm(Session& session, const RemovalRequest& request, EventSink& events,
                               std::stop_token stop = {});
[[nodiscard]] std::string to_json(const RemovalRecord& record);

}  // namespace sabath
