// What a fetch may still write: free bytes and inodes as they were at its start, less what was promised since.
// Thread-safe. Throws Error{space} with the numbers.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "store/store.h"

namespace sabath {

class SpaceGuard {
 public:
  SpaceGuard(Space space, std::string store) : space_(space), store_(std::move(store)) {}
  // Promises room for so many bytes and inodes, or refuses before byte one.
  void reserve(std::uint64_t bytes, std::uint64_t inodes, const std::string& what);
  void give_back(std::uint64_t bytes, std::uint64_t inodes);

 private:
  std::mutex mutex_;
  Space space_;
  std::string store_;
};

}  // namespace sabath
