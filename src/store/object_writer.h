// Writes one new object whose digest is not known until its last byte. The bytes are hashed as they pass, and stand
// under a temporary name until Store::publish. Owned by one thread at a time; destroyed unpublished, it removes its file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "base/file.h"
#include "manifest/file_tree.h"

namespace sabath {

class ObjectWriter {
 public:
  explicit ObjectWriter(std::filesystem::path temporary);
  ~ObjectWriter();
  void write(std::span<const std::byte> bytes);
  const FileTree& finish();                                  // no more bytes; once
  [[nodiscard]] const FileTree& tree() const { return tree_; }  // after finish()

 private:
  friend class Store;
  std::filesystem::path temporary_;
  Fd fd_;
  FileHasher hasher_;
  FileTree tree_;
  std::uint64_t size_bytes_ = 0;
  bool published_ = false;
};

}  // namespace sabath
