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

#include "store/lease_file.h"
#include "store/state.h"

namespace sabath {

// 48 bytes for each object, so that millions fit.
struct StoredObject {
  static constexpr std::uint32_t no_pack = UINT32_MAX;
  Sha256 hash;
  std::uint64_t size_bytes = 0;
  std::uint32_t pack = no_pack, stored_bytes = 0;  // where and as what it is packed
};

class ObjectTable {
 public:
  // Reads the names below objects/, where nothing is opened, and the indexes of packs. Symlinks (adopted files) count
  // as nothing on the disk. Of content that stands there twice the file counts, or what is in the pack of the least
  // name.
  explicit ObjectTable(const Layout& layout, Packs* packs = nullptr);
  [[nodiscard]] std::optional<std::uint32_t> find(const Digest& object) const;
  [[nodiscard]] std::size_t size() const { return objects_.size(); }
  [[nodiscard]] Digest digest(std::uint32_t index) const;
  [[nodiscard]] std::uint64_t bytes(std::uint32_t index) const;                                   // on the disk
  [[nodiscard]] std::uint32_t pack(std::uint32_t index) const { return objects_[index].pack; }    // in packs()
  [[nodiscard]] const std::vector<std::shared_ptr<const Pack>>& packs() const { return packs_; }  // by their names
  [[nodiscard]] std::filesystem::path file(std::uint32_t index, const Layout& layout) const;  // its own, or its pack
  [[nodiscard]] bool linked(std::uint32_t index) const { return linked_[index]; }             // the user's own file
  [[nodiscard]] std::uint64_t total_bytes() const { return total_bytes_; }

 private:
  std::vector<StoredObject> objects_;  // sorted
  std::vector<std::shared_ptr<const Pack>> packs_;
  std::vector<bool> linked_;
  std::uint64_t total_bytes_ = 0;
};

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

// Regular names directory/XX/REST as (XX, REST, path).
void for_each_fanned(const std::filesystem::path& directory,
                     const std::function<void(const std::string& fan, const std::string& name,
                                              const std::filesystem::path& path)>& visit);

}  // namespace sabath
