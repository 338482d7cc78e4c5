// All objects of a store, and where each stands. Read from names and from the indexes of packs; nothing of an object is
// opened. A plain value. Throws Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "sabath/digest.h"
#include "store/disk/layout.h"
#include "store/packs/packs.h"

namespace sabath {

// 48 bytes for each object, so that millions fit.
struct StoredObject {
  static constexpr std::uint32_t no_pack = UINT32_MAX;
  Sha256 hash;
  std::uint64_t size_bytes = 0;
  std::uint32_t pack = no_pack, stored_bytes = 0;  // its pack, and its size there
};

class ObjectTable {
 public:
  // Reads the names below objects/, where nothing is opened, and the indexes of packs. Symlinks (adopted files) count
  // as nothing on the disk. Of content that stands there twice, the file counts, else the member of the pack with the
  // least name.
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

}  // namespace sabath
