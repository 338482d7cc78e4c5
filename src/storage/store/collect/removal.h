// One asset's room, and its removal: what no other asset needs goes, with its view and refs. What a source can bring
// again is deleted at once; what none can restore goes to the trash, for the window of a collection. Free functions;
// one thread each. Throws Error{space}, Error{storage}, Error{interrupted}.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/digest.h"
#include "store/store.h"

namespace sabath {

struct RemovedAsset {
  Sha256 root;
  std::set<Sha256> keys;          // source keys of the asset and of its fragments
  std::set<Sha256> others;        // of all other assets that are known
  bool pinned_elsewhere = false;  // another recipe pins the root
  // Whether a tree with this root and these keys is a part of this asset, and of no other; empty: none is.
  std::function<bool(const Sha256& root, const std::vector<Sha256>& keys)> is_part = {};
  std::string name = {};  // of this user's link to it, by-name/NAME; empty: of none
};

// On the disk, in blocks.
struct AssetRoom {
  std::uint64_t files = 0, bytes = 0;  // as the manifest says
  std::uint64_t stored_bytes = 0;      // of its objects, and of its members of packs
  std::uint64_t alone_bytes = 0;       // of these, what no other asset needs
  std::uint64_t view_bytes = 0;        // what its view has for itself
};
[[nodiscard]] AssetRoom room_of(Store& store, const RemovedAsset& asset);

struct RemovalReport {
  std::string why_kept;            // not empty: nothing was done
  bool pinned = false;             // that is why
  std::uint64_t parts = 0;         // trees of parts that went, too
  std::uint64_t freed_bytes = 0;   // on the disk, of objects, packs and views
  std::uint64_t trash_bytes = 0;   // moved to the trash: a collection with `now` frees it, its undo brings it back
  std::uint64_t shared_bytes = 0;  // stays: other assets need it
  // The content stays: other members use it. This user's own view and refs are gone.
  std::set<unsigned> users = {};  // whose view, lease or mark that is
  std::string used_by = {};       // what it is, for people
  std::int64_t until_ns = 0;      // 0: a view, which root alone removes; INT64_MAX: until a lease has ended
  std::uint64_t used_bytes = 0;
  std::string waiting;  // why the trash could not be emptied; empty: no source can restore it
};
// The parts of an asset that are here, without itself.
[[nodiscard]] std::vector<Sha256> parts_of(Store& store, const RemovedAsset& asset);
// `now`: also what no source can restore is deleted.
[[nodiscard]] RemovalReport remove_asset(Store& store, const RemovedAsset& asset, bool now,
                                         const std::stop_token& stop);

}  // namespace sabath
