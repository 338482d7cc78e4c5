// Open content of the store: an object's file, or the bytes of a pack's member. The reader must check what it reads.
// Reads from any thread. Throws Error{storage}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/file.h"

namespace sabath {

// A range of a file whose bytes are the content, uncompressed.
struct ContentPlace {
  std::filesystem::path file;
  std::uint64_t offset = 0, size_bytes = 0;
};

class Content {
 public:
  Content(Fd fd, std::filesystem::path name) : fd_(std::move(fd)), name_(std::move(name)) {}
  Content(std::vector<std::byte> bytes, std::filesystem::path name)
      : bytes_(std::move(bytes)), name_(std::move(name)) {}

  // Up to room.size() bytes at `offset`; fewer only at the end.
  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::byte> room) const;
  [[nodiscard]] const std::filesystem::path& name() const { return name_; }  // for messages

 private:
  Fd fd_;  // none: `bytes_` is all
  std::vector<std::byte> bytes_;
  std::filesystem::path name_;
};

}  // namespace sabath
