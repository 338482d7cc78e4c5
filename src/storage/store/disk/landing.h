// Counts what this process has written into its store; its reservation shrinks by it. Owned by the Store; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

namespace sabath {

class Landing {
 public:
  struct Sum {
    std::uint64_t bytes = 0, inodes = 0;
  };
  // Called after the disk has taken bytes (or promised them, by fallocate(2)) or made files.
  void add(std::uint64_t bytes, std::uint64_t inodes) {
    const std::lock_guard lock(mutex_);
    sum_.bytes += bytes;
    sum_.inodes += inodes;
    if (on_landing_) on_landing_(sum_);
  }
  [[nodiscard]] Sum sum() const {
    const std::lock_guard lock(mutex_);
    return sum_;
  }
  // The listener is called after each addition, under this object's lock: it must not block. One listener; empty: none.
  void listen(std::function<void(const Sum&)> on_landing) {
    const std::lock_guard lock(mutex_);
    on_landing_ = std::move(on_landing);
  }

 private:
  mutable std::mutex mutex_;
  Sum sum_;
  std::function<void(const Sum&)> on_landing_;
};

}  // namespace sabath
