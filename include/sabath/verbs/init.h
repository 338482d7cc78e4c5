// A store that is made before anything is fetched into it. One thread a session. Throws Error{usage}, Error{storage}.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "sabath/event.h"

namespace sabath {

class Session;

struct InitRequest {
  bool shared = false;               // for all members of its group
  std::optional<std::string> group;  // of a shared store: its name, or its number; absent: the caller's
};

struct InitRecord {
  std::filesystem::path store;
  bool shared = false;
  int exit = 0;
};

[[nodiscard]] InitRecord init(Session& session, const InitRequest& request, EventSink& events,
                              std::stop_token stop = {});
[[nodiscard]] std::string to_json(const InitRecord& record);

}  // namespace sabath
