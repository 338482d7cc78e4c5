// Notes which files of a growing view stand in it and are objects: show() need not look at them. 8 bytes for each file:
// a hash of its path and content. Thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "sabath/digest.h"

namespace sabath {

class GrownFiles {
 public:
  void add(std::string_view path, const Digest& digest) {
    const std::lock_guard lock(mutex_);
    keys_.push_back(key(path, digest));
    sorted_ = false;
  }
  [[nodiscard]] bool has(std::string_view path, const Digest& digest) {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(sorted_, true)) std::ranges::sort(keys_);
    return std::ranges::binary_search(keys_, key(path, digest));
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return keys_.size();
  }

 private:
  static std::uint64_t key(std::string_view path, const Digest& digest) {
    return xxh3_64(path) ^ std::hash<Digest>{}(digest);
  }
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> keys_;
  bool sorted_ = true;
};

}  // namespace sabath
