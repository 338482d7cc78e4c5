// The content of a session's store, and the room that it takes. Nothing is made or changed. Throws Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "sabath/session.h"

namespace sabath {

struct UsageRequest {};

struct UsageRecord {
  std::filesystem::path store;
  bool made = false;                            // there is one
  std::uint64_t objects = 0, object_bytes = 0;  // once each, however many assets and views share them
  std::uint64_t packs = 0, packed_files = 0, pack_bytes = 0;
  std::uint64_t partial_bytes = 0;
  std::uint64_t manifests = 0, views = 0, quarantined = 0, inodes = 0;
  std::optional<std::uint64_t> bytes_free, inodes_free;  // for this user; absent: no store, or not counted
  int exit = 0;
};

[[nodiscard]] UsageRecord usage(Session& session, const UsageRequest& request, EventSink& events,
                                std::stop_token stop = {});
[[nodiscard]] std::string to_json(const UsageRecord& record);

}  // namespace sabath
