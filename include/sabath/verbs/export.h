// Assets of the session's store, written into one tar (docs/bundles.md) for a machine without a network. One thread
// calls. Throws Error{usage}, Error{interrupted}, Error{space}, Error{storage}, and what is said below.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"

namespace sabath {

class Session;

struct ExportRequest {
  std::vector<std::string> names = {};   // assets, or roots as "sha256:<hex>"; none: what the want-list names
  std::string output = {};               // a file, which gets its name when it is whole
  int descriptor = -1;                   // written to, no file is made, and left open; -1: none
  std::optional<std::string> want = {};  // a want-list: only what it asks for
  std::optional<std::string> have = {};  // a list of what is there, which is left out; not with `want`
};

struct ExportedAsset {
  std::string name, manifest;  // manifest: the root, "sha256:<hex>"
};

struct ExportRecord {
  std::string file;  // empty: it went to the descriptor
  std::vector<ExportedAsset> assets;
  std::uint64_t members = 0, bytes = 0;  // members with content, and what they hold
  int exit = 0;
};

// Each chunk is hashed as it is read: Error{content} if the store is damaged. Error{offline} if there is no store, or
// it does not hold an asset; Error{not_found}.
[[nodiscard]] ExportRecord export_bundle(Session& session, const ExportRequest& request, EventSink& events,
                                         std::stop_token stop = {});
[[nodiscard]] std::string to_json(const ExportRecord& record);

}  // namespace sabath
