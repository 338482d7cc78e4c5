// Tells which pack holds which content: an index over the indexes of the packs in some directories. It takes 16 bytes a
// member and can be lost; the packs themselves decide. A miss looks at the directories' times, and so finds packs that
// other processes have just published. Any thread. Throws Error{space}, Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/file.h"
#include "store/packs/pack_format.h"

namespace sabath {

// A pack that was found; its index is checked.
struct Pack {
  Digest name;  // hash: of the index; size_bytes: of the file
  std::filesystem::path file;
  PackFooter footer;
};

struct PackPlace {
  std::shared_ptr<const Pack> pack;
  std::shared_ptr<const Fd> fd;
  PackMember member;
};

class PackTable {
 public:
  // Names the directories that have packs; they need not exist.
  using List = std::vector<std::filesystem::path> (*)(const std::filesystem::path& base);
  PackTable(std::filesystem::path base, List list) : base_(std::move(base)), list_(list) {}

  [[nodiscard]] bool empty();  // as far as was seen
  [[nodiscard]] std::optional<PackPlace> find(const Digest& content);
  [[nodiscard]] std::optional<PackPlace> find_seen(const Digest& content);  // looks for packs the first time only
  [[nodiscard]] std::vector<std::shared_ptr<const Pack>> packs();     // all that stand there now with a right index
  [[nodiscard]] std::vector<PackMember> members(const Digest& name);  // of one of them; empty: it is gone
  // Adds a pack that was just published.
  void add(const Digest& name, const std::filesystem::path& file, const std::vector<PackMember>& members);
  void forget(const Digest& name);  // it is not there any more
  void refresh();                   // looks for others' packs, at once

 private:
  struct Key {
    std::uint64_t hash = 0;
    std::uint32_t pack = 0, record = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  // A directory as it was listed; `settled`: its time was old then, so that any later change gives it another.
  struct Listed {
    std::filesystem::path directory;
    std::int64_t mtime_ns = 0;
    bool settled = false;
    friend bool operator==(const Listed& a, const Listed& b) {
      return a.directory == b.directory && a.mtime_ns == b.mtime_ns;
    }
  };
  [[nodiscard]] std::vector<Listed> look_at_directories() const;
  void refresh_locked();
  void load_locked(const std::filesystem::path& file, const Digest& name);
  void add_locked(const Digest& name, const std::filesystem::path& file, const std::vector<PackMember>& members);
  void forget_locked(std::uint32_t pack);
  std::optional<PackPlace> look_locked(const Digest& content);
  std::shared_ptr<const Fd> open_locked(std::uint32_t pack);

  const std::filesystem::path base_;
  const List list_;
  std::mutex mutex_;                                // of what follows
  std::vector<std::shared_ptr<const Pack>> packs_;  // by number; nullptr: gone
  std::map<Digest, std::uint32_t> numbers_;
  std::map<Digest, std::filesystem::path> damaged_;  // have a pack's name, but no right index
  std::vector<Key> keys_;                            // sorted
  std::map<std::uint32_t, std::shared_ptr<const Fd>> open_;
  std::vector<Listed> listed_;
  bool was_listed_ = false;
};

}  // namespace sabath
