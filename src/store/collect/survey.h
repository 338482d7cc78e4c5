// What the store holds, by whom it is named, and when that was used last: what a collection decides from. Reads names,
// manifests and a stat for each root, but no object. docs/store.md, "Collection". One thread. Throws Error{storage}.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/leases/lease_file.h"
#include "store/space/object_table.h"
#include "store/state.h"

namespace sabath {

// A manifest that something names, or that has not been here for long.
struct Root {
  std::vector<Sha256> keys;                               // of the refs that name it
  std::string source, trusted_by;                         // of one of them, for people
  bool view = false, pinned = false, restorable = false;  // restorable: a source elsewhere has it
  bool young = false;                                     // made so lately that whoever made it may still be at work
  std::string in_use;                                     // by whom: a lease's note; empty if it is not
  std::int64_t used_ns = 0;
  std::vector<std::uint32_t> objects;  // those that are here
  std::uint64_t files = 0, bytes = 0;  // as the manifest says
  bool has_manifest = false;
};

struct Survey {
  ObjectTable objects;
  std::map<Sha256, Root> roots;
  std::vector<Sha256> loose;  // manifests that nothing names
  std::vector<FoundLease> leases;
  std::int64_t now_ns = 0;
  std::int64_t open_since_ns = INT64_MAX;  // when the oldest open lease began: what is newer may belong to it
  bool blind = false;  // a manifest cannot be read: what it names cannot be told from what nothing names
};

inline constexpr std::int64_t clock_margin_ns = 1'000'000'000;  // a file's time may be that of the last tick

// `grace_ns`: manifests that nothing names are roots for so long.
[[nodiscard]] Survey make_survey(Store::State& store, std::int64_t now_ns, std::int64_t grace_ns);

// The root that a file in pins/ or a directory in views/ is called by.
[[nodiscard]] std::optional<Sha256> try_parse_root_name(std::string_view name);
// What refs, pins and views name, whether it is here or not. True: a pin or a view does; a ref alone may be a hint, as
// that of an archive's tree, which nobody misses while the asset is whole.
[[nodiscard]] std::map<Sha256, bool> roots_named(const Layout& layout);

// "HOST pid N: what for", for people.
[[nodiscard]] std::string describe(const FoundLease& lease);

// Whether its source can be asked again: it is no file of some machine.
[[nodiscard]] bool is_restorable_from(const Ref& ref);

}  // namespace sabath
