// A node's directories for staged content, one on each of its disks: each has an ordinary store, DIR/.sabath. The first
// has the manifest and the view, and looks into the others (store/lookup.h): an object in one of them is an object of
// the first too, by a symlink. Each of the others has a manifest of its part, and a ref to that, so that a collection
// keeps what the view needs. docs/staging.md, "Several disks". Owned by one staging; any thread after
// use(). Throws Error{space}, Error{storage}.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "fetch/hosts/space_guard.h"
#include "machine/limits.h"
#include "manifest/manifest.h"
#include "stage/node/target.h"
#include "store/store.h"
#include "store/views/growing_view.h"

namespace sabath {

class LocalDisks {
 public:
  // The cost on the first disk of a file on another: its object and its entry in the view are symlinks, and ext4 gives
  // each with a long target a block.
  static constexpr std::uint64_t link_bytes = 8192, link_inodes = 2;

  // Not empty; `note` and `job` (of the batch system): of the leases.
  LocalDisks(Directories directories, const std::string& note, const std::string& job = {});

  [[nodiscard]] const Directories& directories() const { return directories_; }
  [[nodiscard]] std::size_t size() const { return stores_.size(); }
  [[nodiscard]] Store& store(std::size_t disk) { return *stores_.at(disk); }
  [[nodiscard]] Store& main() { return *stores_.front(); }

  // Keeps the content that this manifest names, on all disks.
  void use(const Sha256& root);
  // The disk that has the file itself, or a part of it on its way.
  [[nodiscard]] std::optional<std::uint32_t> standing(const Digest& file) const;
  [[nodiscard]] std::optional<std::uint32_t> begun(const Digest& file) const;
  // The first disk's store has it too, if another has.
  void link(const Digest& file);

  // The bytes of each disk for dealt files, when `needs` are met and each of `files` is linked. For several disks.
  [[nodiscard]] std::vector<std::uint64_t> rooms(std::span<const Need> needs, std::uint64_t files);
  // Promised to this staging, on each disk, or refused with the disk's name and numbers.
  void reserve(std::span<const Need> needs, const std::string& what, const std::stop_token& stop);
  // For the content of `path`; on the first disk it grows the view.
  [[nodiscard]] std::unique_ptr<ObjectWriter> write_object(std::uint32_t disk, const std::string& path);
  // Everything is there: makes the manifest and the view on the first disk, and the refs that keep the others' parts.
  void keep(const Manifest& manifest, const std::string& bytes);
  void keep_no_view(const Manifest& manifest) noexcept;  // not all is there
  [[noreturn]] void refuse_shared() const;               // see TargetOwner

 private:
  void keep_parts(const Manifest& manifest);

  const Directories directories_;
  std::unique_ptr<Store> main_;      // owns the others
  std::optional<GrowingView> view_;  // nullopt: there is one
  std::vector<Store*> stores_;
  std::vector<Lease> leases_;
  std::vector<std::unique_ptr<SpaceGuard>> guards_;
};

}  // namespace sabath
