// packs/: the content of many small files in few files. docs/store.md, "Packs". Owned by the Store; any thread. Throws
// Error{space}, Error{storage}.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <vector>

#include "store/disk/layout.h"
#include "store/disk/temporaries.h"
#include "store/hints/evidence.h"
#include "store/objects/objects.h"
#include "store/objects/trash.h"
#include "store/packs/pack_scan.h"
#include "store/packs/pack_table.h"
#include "store/packs/pack_writer.h"

namespace sabath {

// A writer begins a new pack when the current one has this many bytes or members.
inline constexpr std::uint64_t pack_bytes_aim = 64ULL << 20;
inline constexpr std::size_t pack_members_aim = 1 << 16;

class Packs {
 public:
  Packs(const Layout& layout, Evidence& evidence, Trash& trash, Objects& objects, Temporaries& temporaries);

  // For content in a pack: see Store::present. A pack without a matching note is read, once; if damaged, its right
  // members go into another pack, and it goes to quarantine. Collected packs come back.
  [[nodiscard]] bool present(const Digest& content);
  // The same among packs seen so far: for content at hand, which at worst is written once more.
  [[nodiscard]] bool has_seen(const Digest& content);
  [[nodiscard]] bool none_seen() { return table_.empty(); }  // then look for an object first
  void distrust(const Digest& content);
  // Where an index says that it is; the pack itself is not checked.
  [[nodiscard]] std::optional<PackPlace> find(const Digest& content) { return table_.find(content); }
  // As far as was seen: for many, after refresh().
  [[nodiscard]] std::optional<PackPlace> find_seen(const Digest& content) { return table_.find_seen(content); }
  void refresh() { table_.refresh(); }
  // nullopt: it is in no pack. Unpacks the stored bytes; the reader must check that they are the content.
  [[nodiscard]] std::optional<std::vector<std::byte>> read(const Digest& content);

  [[nodiscard]] std::unique_ptr<PackWriter> begin();
  Digest publish(PackWriter& writer);  // returns the pack's name; without a member nothing happens

  [[nodiscard]] std::vector<std::shared_ptr<const Pack>> all() { return table_.packs(); }
  [[nodiscard]] std::vector<PackMember> members_of(const Pack& pack) { return table_.members(pack.name); }
  // Writes the right members that `keep` chooses (empty: all) into a new pack, makes that durable, and then calls
  // `remove` for the old one. Returns the members that were not right.
  using Keep = std::function<bool(const PackMember&)>;
  std::vector<PackMember> rewrite(const Pack& pack, const Keep& keep, const std::function<void()>& remove);
  // Writes all members of `packs` into one pack; returns its name. nullopt: one is not right, and nothing changed.
  [[nodiscard]] std::optional<Digest> merge(const std::vector<std::shared_ptr<const Pack>>& packs);
  // Keeps the right members of a damaged pack in a new one; the damaged one goes to quarantine. Returns lost members.
  std::vector<PackMember> mend(const Pack& pack);
  void moved(const Pack& pack) { table_.forget(pack.name); }  // it was moved away
  void note(const Pack& pack);                                // it was read, and is right

 private:
  enum class State { right, wrong, gone };
  [[nodiscard]] State state_of(const Pack& pack);
  [[nodiscard]] bool is_noted(const Pack& pack);
  [[nodiscard]] State read_whole(const Pack& pack);
  [[nodiscard]] bool is_doubted(const Digest& content);
  [[nodiscard]] bool recall(const Digest& content);

  const Layout& layout_;
  Evidence& evidence_;
  Trash& trash_;
  Objects& objects_;
  Temporaries& temporaries_;
  PackTable table_, trashed_;
  std::mutex mutex_;  // of what follows
  std::map<Digest, std::chrono::steady_clock::time_point> looked_at_;
  std::unordered_set<Digest> doubted_;
  std::mutex reading_;  // a pack is read whole by one thread
};

}  // namespace sabath
