#include "sabath/verbs/du.h"
#include "base/text.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/assets/assets.h"
#include "verbs/assets/kept_root.h"
#include "verbs/care/removed_asset.h"
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

UsageRecord du(Session& session, const UsageRequest& request, EventSink&, std::stop_token) {
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

template <>
struct Described<UsageRequest> {
  using Of = UsageRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(names, .help = "the space of this asset; none: of the whole store", .argument = "NAME"),
  };
};

template <>
struct Described<AssetUsage> {
  using Of = AssetUsage;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the asset"),
      SABATH_FIELD(manifest, .help = "its root"),
      SABATH_FIELD(files, .help = "as its manifest says", .unit = "files"),
      SABATH_FIELD(bytes, .help = "as its manifest says", .unit = "bytes"),
      SABATH_FIELD(stored_bytes, .help = "on the disk: its objects, and its members of packs", .unit = "bytes"),
      SABATH_FIELD(alone_bytes, .help = "of these, what no other asset needs", .unit = "bytes"),
      SABATH_FIELD(view_bytes, .help = "what its view has for itself", .unit = "bytes"),
  };
};

template <>
struct Described<UsageRecord> {
  using Of = UsageRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(store, .help = "the store, which may not be made yet: then all is 0"),
      SABATH_FIELD(objects, .help = "files of content, each once, however many assets and views share it"),
      SABATH_FIELD(object_bytes, .help = "their space on the disk", .unit = "bytes"),
      SABATH_FIELD(packs, .help = "files that hold many small files"),
      SABATH_FIELD(packed_files, .help = "files in them"),
      SABATH_FIELD(pack_bytes, .help = "their space on the disk", .unit = "bytes"),
      SABATH_FIELD(partial_bytes, .help = "what fetches that go on, or were broken off, have written", .unit = "bytes"),
      SABATH_FIELD(view_bytes, .help = "what views have for themselves", .unit = "bytes"),
      SABATH_FIELD(trash_bytes, .help = "what was collected, and is not deleted yet", .unit = "bytes"),
      SABATH_FIELD(manifests, .help = "manifests that the store holds"),
      SABATH_FIELD(views, .help = "views of all users"),
      SABATH_FIELD(quarantined, .help = "files that failed a verification"),
      SABATH_FIELD(inodes, .help = "inodes of the whole store"),
      SABATH_FIELD(bytes_free, .help = "free for this user; null: there is no store", .unit = "bytes"),
      SABATH_FIELD(inodes_free, .help = "the same; null also where the filesystem does not count them"),
      SABATH_FIELD(assets, .help = "those that were named"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const UsageRecord& record) { return record_text(record); }

extern constexpr LibraryVerb du_call = described<du>("du");

}  // namespace sabath
