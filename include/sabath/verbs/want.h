// The content that a session's store lacks of assets, for an export on another machine. An absent store is made.
// One thread a session. Throws Error{not_found}, Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"

namespace sabath {

class Session;

struct WantRequest {
  std::vector<std::string> names;  // assets, or roots as "sha256:<hex>"
  std::filesystem::path file;      // the want-list to write; empty: it is in the record
};

struct WantRecord {
  std::filesystem::path file;
  std::uint64_t assets = 0, pieces = 0;
  bool missing = true;  // the pieces are those that are missing; else, since manifests are, those that are here
  std::string list;     // where no file was named: what would stand in it
  int exit = 0;
};

[[nodiscard]] WantRecord want(Session& session, const WantRequest& request, EventSink& events,
                              std::stop_token stop = {});
[[nodiscard]] std::string to_json(const WantRecord& record);

}  // namespace sabath
