#include "sabath/usage.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "verbs/assets/assets.h"
#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {

UsageRecord usage(Session& session, const UsageRequest&, EventSink&, std::stop_token) {
  UsageRecord record;
  record.store = session.settings().store;
  const auto store = try_open_store(session.settings());
  if (!store) return record;
  record.made = true;
  const Store::Usage held = store->usage();
  record.objects = held.objects;
  record.object_bytes = held.object_bytes;
  record.packs = held.packs;
  record.packed_files = held.packed_files;
  record.pack_bytes = held.pack_bytes;
  record.partial_bytes = held.partial_bytes;
  record.manifests = held.manifests;
  record.views = held.views;
  record.quarantined = held.quarantined;
  record.inodes = held.inodes;
  const Space space = store->space();
  record.bytes_free = space.bytes_free;
  if (space.inodes_free != std::numeric_limits<std::uint64_t>::max()) record.inodes_free = space.inodes_free;
  return record;
}

Json json_of(const UsageRecord& record) {
  return {{"schema", 1},
          {"store", record.store.string()},
          {"objects", record.objects},
          {"object_bytes", record.object_bytes},
          {"packs", record.packs},
          {"packed_files", record.packed_files},
          {"pack_bytes", record.pack_bytes},
          {"partial_bytes", record.partial_bytes},
          {"manifests", record.manifests},
          {"views", record.views},
          {"quarantined", record.quarantined},
          {"inodes", record.inodes},
          {"bytes_free", value_or_null(record.bytes_free)},
          {"inodes_free", value_or_null(record.inodes_free)},
          {"exit", record.exit}};
}

std::string to_json(const UsageRecord& record) { return text_of(json_of(record)); }

Json call_usage(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  request.finish();
  return json_of(usage(session, {}, events, std::move(stop)));
}

}  // namespace sabath
