// Room in the session's store: unused assets go to its trash, and are deleted later unless a user takes them back.
// One thread; safe beside all other work on the store, and a collection that was broken off is finished by the next.
// Throws Error{offline} if there is no store, Error{usage}, Error{interrupted}, Error{space}, Error{storage}.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"

namespace sabath {

class Session;

struct CollectionRequest {
  // When objects, and what is kept besides, take more bytes than `size_max`, the least recently used assets go until
  // they take `size_low`; absent: `size_max`. Assets that were not used for `older_than` go, too; so long (absent: 30
  // days) an asset of other members counts as used.
  std::optional<std::uint64_t> size_max = {}, size_low = {};
  std::optional<std::chrono::seconds> older_than = {};
  // How long other things stay: what no asset names, what interrupted fetches left, what is kept besides (quarantine,
  // clones, indexes of archives), and the trash. Absent: 24 h, 7 days, 30 days, 24 h.
  std::optional<std::chrono::seconds> grace = {}, partial_grace = {}, idle_max = {}, undo_window = {};
  bool now = false;          // deletes what it collects: nothing can be taken back
  bool force_local = false;  // also the last copy of what no source can restore
  bool dry_run = false;      // says what would go, and changes nothing
};

struct CollectedAsset {
  std::string name, manifest;  // as people call it; "sha256:<hex>"
  std::string source;          // a URL for people; may be empty
  std::uint64_t files = 0, bytes = 0;
  std::uint64_t freed_bytes = 0;  // what no other asset shares
  std::int64_t used_ns = 0;       // when it was used last, in nanoseconds since 1970
  std::string why;
  std::int64_t until_ns = 0;  // kept by the use of other members, which ends then; 0: by something else
};

// A member of a shared store whose use, or whose view, keeps assets that the request would have had go.
struct KeepingMember {
  unsigned user = 0;
  std::string who;  // the same for people: "user alice"
  std::uint64_t assets = 0, bytes = 0;
  std::uint64_t unused_bytes = 0;  // of these: no member uses them, and root may remove his views
};

struct CollectedOther {  // what no asset is made of
  std::string name;      // below the store
  std::uint64_t bytes = 0;
  std::int64_t used_ns = 0;
  std::string why;
};

struct CollectionRecord {
  bool dry_run = false;
  std::uint64_t objects = 0, object_bytes = 0;  // before
  std::vector<CollectedAsset> collected, kept;  // kept: the request would have had them go
  std::vector<KeepingMember> keepers;           // of these
  std::uint64_t collected_objects = 0, collected_bytes = 0;
  std::uint64_t unnamed_objects = 0, unnamed_bytes = 0;  // of these, what no asset named
  std::uint64_t partials = 0, partial_bytes = 0;
  std::vector<CollectedOther> others;
  std::uint64_t other_bytes = 0;
  std::uint64_t leftovers = 0;                           // files of processes that are gone
  std::uint64_t restored = 0;                            // taken back, because a process began to use it
  std::uint64_t deleted_batches = 0, deleted_bytes = 0;  // of the trash
  std::vector<std::string> waiting;                      // why a batch of the trash stays
  std::vector<std::string> notes;                        // warnings for people
  int exit = 0;
};

[[nodiscard]] CollectionRecord gc(Session& session, const CollectionRequest& request, EventSink& events,
                                  std::stop_token stop = {});
[[nodiscard]] std::string to_json(const CollectionRecord& record);

struct UndoRequest {};

struct UndoRecord {
  std::uint64_t batches = 0, objects = 0, assets = 0, others = 0;  // that went back
  int exit = 0;
};

// Everything in the trash goes back to where it was, unless something stands there.
[[nodiscard]] UndoRecord undo_gc(Session& session, const UndoRequest& request, EventSink& events,
                                 std::stop_token stop = {});
[[nodiscard]] std::string to_json(const UndoRecord& record);

}  // namespace sabath
