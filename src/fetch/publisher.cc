#include "fetch/publisher.h"

#include <algorithm>
#include <utility>

namespace sabath {

namespace {
constexpr std::size_t files_max = 512, packed_files_max = 1 << 15;
constexpr std::uint64_t bytes_max = 64ULL << 20, packed_bytes_max = 56ULL << 20;
constexpr int rest_factor = 2;
constexpr auto rest_min_files = std::chrono::milliseconds(100), rest_min_packs = std::chrono::milliseconds(10'000);
constexpr auto rest_max = std::chrono::seconds(2);
}  // namespace

Publisher::Clock::duration Publisher::rest_min() const {
  return store_.packs(files_) ? rest_min_packs : rest_min_files;
}

bool Publisher::due() const {
  const bool packs = store_.packs(files_);
  const bool full = waiting_.size() >= (packs ? packed_files_max : files_max) ||
                    waiting_bytes_ >= (packs ? packed_bytes_max : bytes_max);
  return full || (publishing_ == 0 && Clock::now() >= next_);
}

Publisher::Group Publisher::take() {
  waiting_bytes_ = 0;
  return std::exchange(waiting_, {});
}

void Publisher::add(std::unique_ptr<ObjectWriter> finished) {
  Group group;
  {
    const std::lock_guard lock(mutex_);
    waiting_bytes_ += finished->tree().digest.size_bytes;
    waiting_.push_back(std::move(finished));
    if (!due()) return;
    group = take();
    ++publishing_;
  }
  const auto begin = Clock::now();
  const auto rest = [&] {
    const auto now = Clock::now();
    const std::lock_guard lock(mutex_);
    --publishing_;
    next_ = now + std::max(rest_min(), std::min<Clock::duration>(rest_factor * (now - begin), rest_max));
  };
  try {
    store_.publish(std::move(group), files_);
  } catch (...) {
    rest();
    throw;
  }
  rest();
}

void Publisher::flush() {
  Group group;
  {
    const std::lock_guard lock(mutex_);
    group = take();
  }
  if (!group.empty()) store_.publish(std::move(group), files_);
}

}  // namespace sabath
