// Publishes finished objects in groups, so that small files share their fsyncs. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "store/store.h"

namespace sabath {

class Publisher {
 public:
  explicit Publisher(Store& store) : store_(store) {}
  void add(std::unique_ptr<ObjectWriter> finished);  // may publish a full group in the caller's thread
  void flush();

 private:
  static constexpr std::size_t group_size = 512;
  Store& store_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ObjectWriter>> waiting_;
};

}  // namespace sabath
