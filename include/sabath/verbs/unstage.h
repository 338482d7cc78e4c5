// Staged datasets taken off the disks of a job's nodes: the opposite of Session::stage().
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"

namespace sabath {

class Session;

struct UnstageRequest {
  std::vector<std::string> names = {};  // datasets, as they are named in the directories
  std::vector<std::string> to = {};     // directories of the nodes, as in StageRequest; at least one
  bool all = false;                     // every view there, and each node's store with all its content
};

struct UnstageRecord {
  unsigned nodes = 1;                   // of the job
  std::uint64_t views = 0, stores = 0;  // that were removed, on all nodes together
  int exit = 0;
};

// Collective, if the session has ranks: each node's leader removes what its node has. All look first, and if one
// refuses, nothing is removed anywhere and all throw the same. The session's own store is not touched.
// Throws Error{usage} also for what is no view and no store of SABATH, Error{not_found} if no node has it,
// Error{storage} also for a store that is in use.
[[nodiscard]] UnstageRecord unstage(Session& session, const UnstageRequest& request, EventSink& events,
                                    std::stop_token stop = {});
[[nodiscard]] std::string to_json(const UnstageRecord& record);

}  // namespace sabath
