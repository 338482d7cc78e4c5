// Contents of small files that wait to be hashed side by side, as no one of them fills the lanes of the vector
// registers. Used by one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "manifest/file_tree.h"

namespace sabath {

class HashGroup {
 public:
  static constexpr std::size_t content_max = 8 * leaf_size_bytes;  // bytes; what is longer fills the registers alone

  struct Content {
    std::size_t index = 0;  // by which the caller knows it
    std::vector<std::byte> bytes;
  };
  void
  expect();  // a content is about to be read: the time that those of a group wait counts from the first one's begin
  void add(std::size_t index, std::vector<std::byte> bytes);
  [[nodiscard]] bool empty() const { return contents_.empty(); }
  [[nodiscard]] std::size_t size() const { return contents_.size(); }
  [[nodiscard]] bool due() const;  // there are enough, or it took too long to read them

  struct Hashed {
    std::vector<Content> contents;
    std::vector<Digest> digests;  // of each
  };
  [[nodiscard]] Hashed hash();  // all of them; none is left
  // Memory for the next content: of those that are done with.
  void done_with(std::vector<Content> contents);
  [[nodiscard]] std::vector<std::byte> spare();

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<Content> contents_;
  std::vector<std::vector<std::byte>> spares_;
  std::uint64_t bytes_ = 0;
  Clock::time_point first_;
};

}  // namespace sabath
