// Where a fetched asset is. One thread a session. Throws Error{offline} where the store
// does not hold all of it, Error{not_found}, Error{usage}, Error{space}, Error{storage}.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "sabath/event.h"

namespace sabath {

class Session;

struct PathRequest {
  std::string name;
  std::string fragment;  // the place of this part: a file, or the directory that holds it; empty: of all
};

struct PathRecord {
  std::string name, fragment;
  std::filesystem::path path;
  int exit = 0;
};

[[nodiscard]] PathRecord find_path(Session& session, const PathRequest& request, EventSink& events,
                                   std::stop_token stop = {});
[[nodiscard]] std::string to_json(const PathRecord& record);

}  // namespace sabath
