// Memory for chunks on their way, used again: fresh pages for each would cost as much as reading them. Thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sabath/digest.h"

namespace sabath {

class ChunkBuffers {
 public:
  // Goes back to the pool with its last owner, which must not outlive the pool.
  using Buffer = std::shared_ptr<std::byte[]>;
  [[nodiscard]] Buffer take() {
    std::unique_ptr<std::byte[]> bytes;
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        bytes = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (!bytes) bytes = std::make_unique_for_overwrite<std::byte[]>(chunk_size_bytes);
    return {bytes.release(), [this](std::byte* back) { give_back(std::unique_ptr<std::byte[]>(back)); }};
  }

 private:
  static constexpr std::size_t idle_max = 2;  // as many as are given back before the next is taken
  void give_back(std::unique_ptr<std::byte[]> bytes) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < idle_max) idle_.push_back(std::move(bytes));
  }
  std::mutex mutex_;
  std::vector<std::unique_ptr<std::byte[]>> idle_;
};

}  // namespace sabath
