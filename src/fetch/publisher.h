// Publishes finished objects in groups, so that small files share their fsyncs. Thread-safe.
//
// What waits is lost to a kill: groups are as large as the disk makes them, because while one is published the next
// one gathers, and bounded where it is slow.
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
  [[nodiscard]] bool due() const;  // the mutex is held

  Store& store_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ObjectWriter>> waiting_;
  std::uint64_t waiting_bytes_ = 0;
  unsigned publishing_ = 0;  // lanes that are at it
  Clock::time_point published_ = Clock::now();
};

}  // namespace sabath
