// Publishes finished objects in groups, so that small files share their fsyncs. Thread-safe.
//
// What waits is lost to a kill, so groups are no larger than the disk makes them: a lane publishes what has gathered,
// and rests twice as long as that took. A group is bounded all the same.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "store/store.h"

namespace sabath {

class Publisher {
 public:
  explicit Publisher(Store& store) : store_(store) {}
  void add(std::unique_ptr<ObjectWriter> finished);  // may publish a group in the caller's thread
  void flush();

 private:
  using Clock = std::chrono::steady_clock;
  using Group = std::vector<std::unique_ptr<ObjectWriter>>;
  [[nodiscard]] bool due() const;  // the mutex is held
  [[nodiscard]] Group take();      // the mutex is held

  Store& store_;
  std::mutex mutex_;
  Group waiting_;
  std::uint64_t waiting_bytes_ = 0;
  unsigned publishing_ = 0;                                                 // lanes that are at it
  Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(100);  // not before this, unless the group is full
};

}  // namespace sabath
