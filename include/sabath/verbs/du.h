// The content of a session's store, and the room that it takes. Nothing is made or changed. Throws Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"

namespace sabath {

class Session;

struct UsageRequest {
  std::vector<std::string> names = {};  // assets: the room of each, besides that of the whole
};

struct AssetUsage {  // on the disk, but for `bytes`
  std::string name, manifest;
  std::uint64_t files = 0, bytes = 0;  // as its manifest says
  std::uint64_t stored_bytes = 0;      // its objects, and its members of packs
  std::uint64_t alone_bytes = 0;       // of these, what no other asset needs
  std::uint64_t view_bytes = 0;        // what its view has for itself
};

struct UsageRecord {
  std::filesystem::path store;
  bool made = false;                            // there is one
  std::uint64_t objects = 0, object_bytes = 0;  // once each, however many assets and views share them
  std::uint64_t packs = 0, packed_files = 0, pack_bytes = 0;
  std::uint64_t partial_bytes = 0;
  std::uint64_t view_bytes = 0, trash_bytes = 0;  // of views: what they have for themselves
  std::vector<AssetUsage> assets;
  std::uint64_t manifests = 0, views = 0, quarantined = 0, inodes = 0;
  std::optional<std::uint64_t> bytes_free, inodes_free;  // for this user; absent: no store, or not counted
  int exit = 0;
};

[[nodiscard]] UsageRecord du(Session& session, const UsageRequest& request, EventSink& events,
                             std::stop_token stop = {});
[[nodiscard]] std::string to_json(const UsageRecord& record);

}  // namespace sabath
