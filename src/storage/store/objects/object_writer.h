// Writes one new object whose digest is not known until its last byte. It hashes the bytes as they pass, and keeps them
// under a temporary name until Store::publish; it keeps a small file that is one of many in memory for a pack. Owned by
// one thread at a time; destroyed unpublished, it removes its file. Throws Error{space}, Error{storage}.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/file.h"
#include "manifest/file_tree.h"
#include "store/disk/durable.h"
#include "store/disk/temporaries.h"

namespace sabath {

class SyncGroup;

// The place of a file that has no temporary name: in a tree that will be shown as a view.
class ObjectPlace {
 public:
  virtual ~ObjectPlace() = default;
  [[nodiscard]] virtual std::filesystem::path name() const = 0;
  [[nodiscard]] virtual Fd create() const = 0;  // read-only to other openers; makes directories
  // The file is the object of this content, too, from then on; never replaces one.
  [[nodiscard]] virtual Move link_as(const std::filesystem::path& object, const Digest& digest) const = 0;
  [[nodiscard]] virtual std::optional<struct stat> now() const = 0;  // nullopt: it had to leave the tree
};

class ObjectWriter {
 public:
  // By Store::write_object. Content of at most `small_max` bytes is kept in memory, nullopt: none is.
  ObjectWriter(Temporaries& temporaries, std::shared_ptr<SyncGroup> group, std::optional<std::uint64_t> small_max);
  // By GrowingView::write_object: the file stands there from the beginning, and stays.
  ObjectWriter(Temporaries& temporaries, std::shared_ptr<SyncGroup> group, std::unique_ptr<ObjectPlace> place);
  ~ObjectWriter();
  void write(std::span<const std::byte> bytes);
  void write_hashed(std::span<const std::byte> content,
                    const FileTree& tree);                      // all of it at once, instead of finish()
  const FileTree& finish();                                     // no more bytes; once
  [[nodiscard]] const FileTree& tree() const { return tree_; }  // after finish()
  [[nodiscard]] std::vector<std::byte> content() const;         // after finish(): of a small one
  // After finish(): the content kept for a pack. nullopt: it is a file.
  [[nodiscard]] std::optional<std::span<const std::byte>> kept() const;

 private:
  friend class Store;
  void make_file();
  void settle_file();
  void become_file();  // after finish(): the kept content becomes a file

  Temporaries& temporaries_;
  const std::unique_ptr<ObjectPlace> place_;  // nullptr: it has a temporary name
  std::filesystem::path temporary_;
  std::shared_ptr<SyncGroup> group_;
  const std::optional<std::uint64_t> small_max_;
  std::vector<std::byte> kept_;
  Fd fd_;  // after finish(): open only if it still needs an fsync of its own
  FileHasher hasher_;
  FileTree tree_;
  bool has_file_ = false;
  bool finished_ = false;
  bool published_ = false;
};

}  // namespace sabath
