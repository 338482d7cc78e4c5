// Writes one new object whose digest is not known until its last byte. The bytes are hashed as they pass, and stand
// under a temporary name until Store::publish; those of a small file that is one of many are kept for a pack. Owned by
// one thread at a time; destroyed unpublished, it removes its file. Throws Error{space}, Error{storage}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/file.h"
#include "manifest/file_tree.h"
#include "store/small_contents.h"

namespace sabath {

class SyncGroup;

class ObjectWriter {
 public:
  ObjectWriter(Temporaries& temporaries, std::shared_ptr<SyncGroup> group);  // by Store::write_object
  // The same for one of many: up to `small_max` bytes are no file.
  ObjectWriter(Temporaries& temporaries, std::shared_ptr<SyncGroup> group, std::shared_ptr<SmallContents> small,
               std::uint64_t small_max);
  ~ObjectWriter();
  void write(std::span<const std::byte> bytes);
  const FileTree& finish();                                     // no more bytes; once
  [[nodiscard]] const FileTree& tree() const { return tree_; }  // after finish()

 private:
  friend class Store;
  void make_file();
  void settle_file();
  void become_file();                                    // after finish(): what was kept is a file like others
  [[nodiscard]] std::vector<std::byte> content() const;  // after finish()

  Temporaries& temporaries_;
  std::filesystem::path temporary_;
  std::shared_ptr<SyncGroup> group_;
  std::shared_ptr<SmallContents> small_;
  std::uint64_t small_max_ = 0;
  std::vector<std::byte> kept_;
  SmallContents::Held held_;
  Fd fd_;  // after finish(): open only if it still needs an fsync of its own
  FileHasher hasher_;
  FileTree tree_;
  bool has_file_ = false;
  bool finished_ = false;
  bool published_ = false;
};

}  // namespace sabath
