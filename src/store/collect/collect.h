// Collection: what is not used goes to the trash, and from there, when it is surely not missed, away. docs/store.md,
// "Collection". Safe beside everything else that works on the store; one that was interrupted is finished by the next.
// Free functions; one thread each. Throws Error{space}, Error{storage}, Error{interrupted}.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "store/store.h"

namespace sabath {

struct CollectPolicy {
  // Assets are collected by size (when objects and what is kept besides take more than `size_max`, first the latter,
  // then the least recently used go until they take `size_low` at most; default: size_max) and by age (not used for so
  // long). Neither: none is.
  std::optional<std::uint64_t> size_max, size_low;
  std::optional<std::chrono::seconds> older_than;
  // What no asset names stays for so long: an interrupted fetch will want it.
  std::chrono::seconds grace = std::chrono::hours(24);
  std::chrono::seconds partial_grace = std::chrono::hours(24 * 7);
  std::chrono::seconds idle_max = std::chrono::hours(24 * 30);  // of what is kept besides: see Other
  std::chrono::seconds undo_window = std::chrono::hours(24);    // before the trash is emptied
  bool now = false;                                             // what is collected is deleted in the same call
  // How long another node may not see what this one has written. Nothing: 0 on local filesystems, else 90 s.
  std::optional<std::chrono::milliseconds> settle;
  bool force_local = false;  // also the last copy of what no source can restore
  bool dry_run = false;      // say what would go; change nothing
};

struct CollectReport {
  struct Asset {
    Sha256 root;
    std::vector<Sha256> keys;  // source keys of its refs
    std::string source;        // display URL; may be empty
    std::uint64_t files = 0, bytes = 0;
    std::uint64_t freed_bytes = 0;  // what no other asset shares
    std::int64_t used_ns = 0;       // since 1970
    std::string why;
  };
  // What no asset is made of: files in quarantine, bare clones, indexes of archives.
  struct Other {
    std::string name;  // below the store
    std::uint64_t bytes = 0;
    std::int64_t used_ns = 0;  // or when it came there
    std::string why;
  };
  std::vector<Other> others;                    // collected
  std::uint64_t other_bytes = 0;                // of these, on the disk
  std::vector<Asset> collected, kept;           // kept: the policy would have had them
  std::uint64_t objects = 0, object_bytes = 0;  // before
  std::uint64_t collected_objects = 0, collected_bytes = 0;
  std::uint64_t unnamed_objects = 0, unnamed_bytes = 0;          // of these, what no asset named
  std::uint64_t partials = 0, partial_bytes = 0, leftovers = 0;  // leftovers: of dead writers' tmp/ and leases
  std::uint64_t restored = 0;                                    // taken back, for somebody began to use it
  std::uint64_t deleted_batches = 0, deleted_bytes = 0;          // of the trash
  std::vector<std::string> waiting;                              // why a batch of the trash stays
  std::vector<std::string> notes;
};

[[nodiscard]] CollectReport collect(Store& store, const CollectPolicy& policy, const std::stop_token& stop = {});

struct UndoReport {
  std::uint64_t batches = 0, objects = 0, assets = 0, others = 0;
};
// Everything of the trash goes back to where it was, unless something stands there.
[[nodiscard]] UndoReport undo_collection(Store& store);

}  // namespace sabath
