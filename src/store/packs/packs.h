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

// A pack is begun anew when it has so much.
inline constexpr std::uint64_t pack_bytes_aim = 64ULL << 20;
inline constexpr std::size_t pack_members_aim = 1 << 16;

class Packs {
 public:
  Packs(const Layout& layout, Evidence& evidence, Trash& trash, Objects& objects, Temporaries& temporaries);

  // Of content that stands in a pack: see Store::present. A pack that is not as it was noted is read, once; what of it
  // is right goes into another, and it itself to quarantine. What was collected comes back.
  [[nodiscard]] bool present(const Digest& content);
  // The same of packs that were seen until now: for content at hand, which is only written once more if others were.
  [[nodiscard]] bool has_seen(const Digest& content);
  [[nodiscard]] bool none_seen() { return table_.empty(); }  // so it is worth looking for an object first
  void distrust(const Digest& content);
  // Where an index says that it is; nobody has looked at the pack itself.
  [[nodiscard]] std::optional<PackPlace> find(const Digest& content) { return table_.find(content); }
  // As far as was seen: for many, after refresh().
  [[nodiscard]] std::optional<PackPlace> find_seen(const Digest& content) { return table_.find_seen(content); }
  void refresh() { table_.refresh(); }
  // nullopt: it is in no pack. What was stored is unpacked; whether it is the content its reader has to see.
  [[nodiscard]] std::optional<std::vector<std::byte>> read(const Digest& content);

  [[nodiscard]] std::unique_ptr<PackWriter> begin();
  Digest publish(PackWriter& writer);  // returns the pack's name; without a member nothing happens

  [[nodiscard]] std::vector<std::shared_ptr<const Pack>> all() { return table_.packs(); }
  [[nodiscard]] std::vector<PackMember> members_of(const Pack& pack) { return table_.members(pack.name); }
  // The members for which `keep` says so (empty: all) go into a new pack, if they are right, and `pack` goes where
  // `remove` takes it: the new one is durable before. Returns what was not right.
  using Keep = std::function<bool(const PackMember&)>;
  std::vector<PackMember> rewrite(const Pack& pack, const Keep& keep, const std::function<void()>& remove);
  // All members of `packs`, if they are right, in one pack; its name. nullopt: one is not, and nothing has changed.
  [[nodiscard]] std::optional<Digest> merge(const std::vector<std::shared_ptr<const Pack>>& packs);
  // What is right of a damaged pack stays; it itself goes to quarantine. Returns what was lost.
  std::vector<PackMember> mend(const Pack& pack);
  void moved(const Pack& pack) { table_.forget(pack.name); }  // somebody has taken it away
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
