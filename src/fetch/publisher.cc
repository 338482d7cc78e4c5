#include "fetch/publisher.h"

#include <utility>

namespace sabath {

namespace {
constexpr std::size_t files_max = 512;
constexpr std::uint64_t bytes_max = 64ULL << 20;
// Sooner, while no other group is on its way: so much, but not more often than this; and whatever has waited too long.
constexpr std::uint64_t bytes_worth = 8ULL << 20;
constexpr auto pause = std::chrono::milliseconds(100);
constexpr auto patience = std::chrono::seconds(2);
}  // namespace

bool Publisher::due() const {
  if (waiting_.size() >= files_max || waiting_bytes_ >= bytes_max) return true;
  const auto since = Clock::now() - published_;
  return publishing_ == 0 && (since >= patience || (since >= pause && waiting_bytes_ >= bytes_worth));
}

void Publisher::add(std::unique_ptr<ObjectWriter> finished) {
  std::vector<std::unique_ptr<ObjectWriter>> group;
  {
    const std::lock_guard lock(mutex_);
    waiting_bytes_ += finished->tree().digest.size_bytes;
    waiting_.push_back(std::move(finished));
    if (!due()) return;
    group.swap(waiting_);
    waiting_bytes_ = 0;
    ++publishing_;
  }
  const auto done = [this] {
    const std::lock_guard lock(mutex_);
    --publishing_;
    published_ = Clock::now();
  };
  try {
    store_.publish(std::move(group));
  } catch (...) {
    done();
    throw;
  }
  done();
}

void Publisher::flush() {
  std::vector<std::unique_ptr<ObjectWriter>> group;
  {
    const std::lock_guard lock(mutex_);
    group.swap(waiting_);
    waiting_bytes_ = 0;
  }
  if (!group.empty()) store_.publish(std::move(group));
}

}  // namespace sabath
