// Publishes finished objects in groups, so that small files share their fsyncs. Thread-safe.
//
// What waits is lost to a kill, so groups are no larger than the disk makes them: a lane publishes what has gathered,
// and rests twice as long as that took. A group is bounded all the same. Where files go into packs groups are larger:
// each is a pack, and many small packs would be many files again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "store/store.h"

namespace sabath {

class Publisher {
 public:
  // `files`: how many belong together, as far as is known.
  Publisher(Store& store, std::uint64_t files) : store_(store), files_(files) {}
  void expect(std::uint64_t files) { files_ = files; }  // more of them than was known
  [[nodiscard]] std::unique_ptr<ObjectWriter> begin() { return store_.write_object(files_); }
  void add(std::unique_ptr<ObjectWriter> finished);  // may publish a group in the caller's thread
  void flush();

 private:
  using Clock = std::chrono::steady_clock;
  using Group = std::vector<std::unique_ptr<ObjectWriter>>;
  [[nodiscard]] bool due() const;  // the mutex is held
  [[nodiscard]] Group take();      // the mutex is held
  [[nodiscard]] Clock::duration rest_min() const;

  Store& store_;
  std::atomic<std::uint64_t> files_;
  std::mutex mutex_;
  Group waiting_;
  std::uint64_t waiting_bytes_ = 0;
  unsigned publishing_ = 0;                             // lanes that are at it
  Clock::time_point next_ = Clock::now() + rest_min();  // not before this, unless the group is full
};

}  // namespace sabath
