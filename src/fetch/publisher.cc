#include "fetch/publisher.h"

#include <utility>

namespace sabath {

void Publisher::add(std::unique_ptr<ObjectWriter> finished) {
  std::vector<std::unique_ptr<ObjectWriter>> group;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(finished));
    if (waiting_.size() < group_size) return;
    group.swap(waiting_);
  }
  store_.publish(std::move(group));
}

void Publisher::flush() {
  std::vector<std::unique_ptr<ObjectWriter>> group;
  {
    const std::lock_guard lock(mutex_);
    group.swap(waiting_);
  }
  if (!group.empty()) store_.publish(std::move(group));
}

}  // namespace sabath
