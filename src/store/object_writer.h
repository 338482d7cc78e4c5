// Writes one new object whose digest is not known until its last byte. The bytes are hashed as they pass, and stand
// under a temporary name until Store::publish. Owned by one thread at a time; destroyed unpublished, it removes its
// file. Throws Error{space}, Error{storage}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "base/file.h"
#include "manifest/file_tree.h"

namespace sabath {

class SyncGroup;

class ObjectWriter {
 public:
  ObjectWriter(std::filesystem::path temporary, std::shared_ptr<SyncGroup> group);  // by Store::write_object
  ~ObjectWriter();
  void write(std::span<const std::byte> bytes);
  const FileTree& finish();                                     // no more bytes; once
  [[nodiscard]] const FileTree& tree() const { return tree_; }  // after finish()

 private:
  friend class Store;
  std::filesystem::path temporary_;
  std::shared_ptr<SyncGroup> group_;
  Fd fd_;  // after finish(): open only if it still needs an fsync of its own
  FileHasher hasher_;
  FileTree tree_;
  bool finished_ = false;
  bool published_ = false;
};

}  // namespace sabath
