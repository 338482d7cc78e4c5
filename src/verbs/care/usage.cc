#include "sabath/usage.h"
#include "base/text.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/assets/assets.h"
#include "verbs/care/kept_root.h"
#include "verbs/care/removed_asset.h"
#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {

namespace {

AssetUsage usage_of(const std::string& name, const SessionSettings& settings, Store& store) {
  const Sha256 root = kept_root(name, settings, store);
  if (!store.manifest(root)) {
    throw Error(FailureKind::offline, fmt::format("the store does not hold {}", printable(name)),
                fmt::format("{} {}", verb_text("fetch"), shell_word(name)));
  }
  const AssetRoom room = room_of(store, asset_of(name, root, settings));
  return {name, root.prefixed(), room.files, room.bytes, room.stored_bytes, room.alone_bytes, room.view_bytes};
}

}  // namespace

UsageRecord usage(Session& session, const UsageRequest& request, EventSink&, std::stop_token) {
  UsageRecord record;
  record.store = session.settings().store;
  const auto store =
      request.names.empty() ? try_open_store(session.settings()) : open_existing_store(session.settings());
  if (!store) return record;
  for (const auto& name : request.names) record.assets.push_back(usage_of(name, session.settings(), *store));
  record.made = true;
  const Store::Usage held = store->usage();
  record.objects = held.objects;
  record.object_bytes = held.object_bytes;
  record.packs = held.packs;
  record.packed_files = held.packed_files;
  record.pack_bytes = held.pack_bytes;
  record.partial_bytes = held.partial_bytes;
  record.view_bytes = held.view_bytes;
  record.trash_bytes = held.trash_bytes;
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
  Json assets = Json::array();
  for (const auto& asset : record.assets) {
    assets.push_back({{"name", asset.name},
                      {"manifest", asset.manifest},
                      {"files", asset.files},
                      {"bytes", asset.bytes},
                      {"stored_bytes", asset.stored_bytes},
                      {"alone_bytes", asset.alone_bytes},
                      {"view_bytes", asset.view_bytes}});
  }
  return {{"schema", 1},
          {"store", record.store.string()},
          {"objects", record.objects},
          {"object_bytes", record.object_bytes},
          {"packs", record.packs},
          {"packed_files", record.packed_files},
          {"pack_bytes", record.pack_bytes},
          {"partial_bytes", record.partial_bytes},
          {"view_bytes", record.view_bytes},
          {"trash_bytes", record.trash_bytes},
          {"manifests", record.manifests},
          {"views", record.views},
          {"quarantined", record.quarantined},
          {"inodes", record.inodes},
          {"bytes_free", value_or_null(record.bytes_free)},
          {"inodes_free", value_or_null(record.inodes_free)},
          {"assets", std::move(assets)},
          {"exit", record.exit}};
}

std::string to_json(const UsageRecord& record) { return text_of(json_of(record)); }

Json call_usage(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const UsageRequest asked{request.texts("names")};
  request.finish();
  return json_of(usage(session, asked, events, std::move(stop)));
}

}  // namespace sabath
