// Which URL schemes this build can fetch, and by what. No request is made. Throws Error{usage}, Error{invalid} where
// the description of a program makes no sense.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"
#include "sabath/fetcher.h"

namespace sabath {

class Session;

struct FetchersRequest {};

struct SchemeEntry {
  Scheme scheme;
  bool first = false;  // the first one that serves a scheme is used, the others could be preferred
};

struct FetchersRecord {
  std::vector<SchemeEntry> schemes;
  int exit = 0;
};

[[nodiscard]] FetchersRecord list_fetchers(Session& session, const FetchersRequest& request, EventSink& events,
                                           std::stop_token stop = {});
[[nodiscard]] std::string to_json(const FetchersRecord& record);

}  // namespace sabath
