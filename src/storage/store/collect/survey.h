// A survey: the store's content, the roots that name it, and their last uses; a collection decides from it. Reads names
// and manifests, and stats each root; reads no object. docs/store.md, "Collection". One thread. Throws Error{storage}.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/leases/lease_file.h"
#include "store/space/object_table.h"
#include "store/state.h"

namespace sabath {

// A manifest that a ref, view, pin or lease names, or a young one.
struct Root {
  std::vector<Sha256> keys;                               // of the refs that name it
  std::string source, trusted_by;                         // of one of them, for people
  bool view = false, pinned = false, restorable = false;  // restorable: a source elsewhere has it
  bool young = false;                                     // so new that its writer may still be at work
  std::string in_use;                                     // by whose live lease, for people; empty: by none
  bool in_own_use = false;                                // such a lease is this user's
  // The members besides this user who have a view, a ref or a live lease of it. Each counts as its user for as long as
  // its mark is young, set by any user: no process table knows the jobs of other nodes.
  std::set<unsigned> others;
  std::vector<std::filesystem::path> views;  // all that this user may remove
  std::set<unsigned> closed;                 // whose view he may not
  std::int64_t used_ns = 0;
  std::vector<std::uint32_t> objects;  // those that are here
  std::uint64_t files = 0, bytes = 0;  // as the manifest says
  bool has_manifest = false;
};

struct Survey {
  ObjectTable objects;
  std::map<Sha256, Root> roots;
  std::vector<Sha256> loose;  // manifests that nothing names, not young
  std::vector<FoundLease> leases;
  std::int64_t now_ns = 0;
  std::int64_t open_since_ns = INT64_MAX;  // when the oldest open lease began: newer content may belong to it
  bool blind = false;                      // a manifest cannot be read, so objects that it names look unnamed
};

inline constexpr std::int64_t clock_margin_ns = 1'000'000'000;  // a file's time may be that of the last tick

// `grace_ns`: for how long an unnamed manifest is a root.
[[nodiscard]] Survey make_survey(Store::State& store, std::int64_t now_ns, std::int64_t grace_ns);

// The root that gives a file in pins/ or a directory in views/ its name.
[[nodiscard]] std::optional<Sha256> try_parse_root_name(std::string_view name);
// The roots that refs, pins and views name, here or not. True: a pin or a view names it. A ref alone may be a hint,
// like that of an archive's tree, which no process misses while the asset is whole.
[[nodiscard]] std::map<Sha256, bool> roots_named(const Layout& layout);

// Until when the other members' use keeps the content of a root that was used at `used_ns` (without its mark, at the
// latest of its signs): INT64_MAX as long as a lease of theirs lives; 0: nothing of theirs keeps it, but perhaps a view
// that this user may not remove.
[[nodiscard]] std::int64_t kept_by_others_until(const Root& root, std::int64_t used_ns, std::int64_t now_ns,
                                                std::int64_t use_ns);
// The root's own refs, of those that name it: files that this user may remove.
[[nodiscard]] std::vector<std::filesystem::path> removable_refs(const Layout& layout, const Sha256& id,
                                                                const Root& root);

// "HOST pid N: what for", for people.
[[nodiscard]] std::string describe(const FoundLease& lease);

// Whether its source can be asked again, that is, it is not a file of one machine.
[[nodiscard]] bool is_restorable_from(const Ref& ref);

}  // namespace sabath
