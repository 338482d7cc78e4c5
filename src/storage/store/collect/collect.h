// Collection moves unused content to the trash, and deletes it from there once it is surely not missed. docs/store.md,
// "Collection". Safe beside all other work on the store; the next collection finishes an interrupted one. Free
// functions; one thread each. Throws Error{space}, Error{storage}, Error{interrupted}.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "store/store.h"

namespace sabath {

struct CollectPolicy {
  // Assets are collected by size and by age (not used for `older_than`). By size: when objects and others take more
  // than `size_max`, others go first, then the least recently used assets until all take at most `size_low` (default:
  // size_max). Neither is set: no asset is collected.
  std::optional<std::uint64_t> size_max, size_low;
  std::optional<std::chrono::seconds> older_than;
  // For how long after its last use an asset counts as used by the other members who have it: docs/store.md.
  [[nodiscard]] std::chrono::seconds use() const { return older_than.value_or(std::chrono::hours(24 * 30)); }
  // How long content that no asset names stays: an interrupted fetch will want it.
  std::chrono::seconds grace = std::chrono::hours(24);
  std::chrono::seconds partial_grace = std::chrono::hours(24 * 7);
  std::chrono::seconds idle_max = std::chrono::hours(24 * 30);  // of others: see CollectReport::Other
  std::chrono::seconds undo_window = std::chrono::hours(24);    // before the trash is emptied
  bool now = false;                                             // delete what is collected in the same call
  // How long another node may not see this node's writes. Nothing: 0 on local filesystems, else 90 s.
  std::optional<std::chrono::milliseconds> settle;
  bool force_local = false;  // also collect the last copy of content that no source can restore
  bool dry_run = false;      // say what would go; change nothing
  bool whole_packs = true;   // else each pack with a member that goes is written anew, and no other
};

struct CollectReport {
  struct Asset {
    Sha256 root;
    std::vector<Sha256> keys;  // source keys of its refs
    std::string source;        // display URL; may be empty
    std::uint64_t files = 0, bytes = 0;
    std::uint64_t freed_bytes = 0;  // not shared with another asset
    std::int64_t used_ns = 0;       // since 1970
    std::string why;
    std::int64_t until_ns = 0;  // kept by other members' use, which ends then; INT64_MAX: with a lease
  };
  // A member whose use, or whose view, keeps assets that the policy chose.
  struct Keeper {
    unsigned user = 0;
    std::uint64_t assets = 0, bytes = 0;
    std::uint64_t unused_bytes = 0;  // of these: no member uses them, but his view is his; root can remove it
  };
  std::vector<Keeper> keepers;
  // Content that belongs to no asset: files in quarantine, bare clones, indexes of archives.
  struct Other {
    std::string name;  // below the store
    std::uint64_t bytes = 0;
    std::int64_t used_ns = 0;  // or when it came there
    std::string why;
  };
  std::vector<Other> others;                    // collected
  std::uint64_t other_bytes = 0;                // of these, on the disk
  std::vector<Asset> collected, kept;           // kept: the policy chose them, but they may not go
  std::uint64_t objects = 0, object_bytes = 0;  // before
  std::uint64_t collected_objects = 0, collected_bytes = 0;
  std::uint64_t unnamed_objects = 0, unnamed_bytes = 0;          // of these, named by no asset
  std::uint64_t partials = 0, partial_bytes = 0, leftovers = 0;  // leftovers: of dead writers' tmp/ and leases
  std::uint64_t restored = 0;                                    // taken back, for a process began to use it
  std::uint64_t deleted_batches = 0, deleted_bytes = 0;          // of the trash
  std::vector<std::string> waiting;                              // why a batch of the trash stays
  std::vector<std::string> notes;
};

[[nodiscard]] CollectReport collect(Store& store, const CollectPolicy& policy, const std::stop_token& stop = {});

// What an interrupted fetch left, and no process is adding to.
struct StalePartial {
  std::filesystem::path directory;
  std::uint64_t bytes = 0;  // on the disk
  std::int64_t changed_ns = 0;
};
[[nodiscard]] std::optional<StalePartial> largest_stale_partial(Store& store);

struct UndoReport {
  std::uint64_t batches = 0, objects = 0, assets = 0, others = 0;
};
// Moves everything in the trash back to where it was, unless something stands there.
[[nodiscard]] UndoReport undo_collection(Store& store);

}  // namespace sabath
