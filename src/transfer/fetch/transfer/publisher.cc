#include "fetch/transfer/publisher.h"

#include <algorithm>
#include <utility>

namespace sabath {

namespace {
constexpr std::size_t group_files_max = 512;
constexpr std::uint64_t group_bytes_max = 64ULL << 20;
constexpr int rest_factor = 2;
constexpr auto rest_min = std::chrono::milliseconds(100), pack_age_max = std::chrono::milliseconds(10'000);
constexpr auto rest_max = std::chrono::seconds(2);
}  // namespace

Publisher::Publisher(Store& store, std::uint64_t files)
    : store_(store), files_(files), packs_(store), next_(Clock::now() + rest_min) {}

bool Publisher::due() const {
  const bool full = waiting_.size() >= group_files_max || waiting_bytes_ >= group_bytes_max;
  return full || (publishing_ == 0 && Clock::now() >= next_);
}

Publisher::Group Publisher::take() {
  waiting_bytes_ = 0;
  return std::exchange(waiting_, {});
}

void Publisher::add(std::span<const HashedContent> contents) {
  std::vector<PackStream::Content> small;
  for (const auto& [tree, bytes] : contents) {
    if (store_.packs(files_) && bytes.size() <= store_.pack_threshold()) {
      small.push_back({tree.digest, bytes});
    } else {
      auto writer = store_.write_object();
      writer->write_hashed(bytes, tree);
      add(std::move(writer));
    }
  }
  if (!small.empty()) pack(small);
}

void Publisher::pack(std::span<const PackStream::Content> contents) {
  if (packs_.add(contents)) packs_.publish_full();
  bool old = false;
  {
    const auto now = Clock::now();
    const std::lock_guard lock(mutex_);
    if (!seal_at_) seal_at_ = now + pack_age_max;
    old = now >= *seal_at_;
    if (old) seal_at_ = now + pack_age_max;
  }
  if (old) packs_.publish_all();
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
    next_ = now + std::max<Clock::duration>(rest_min, std::min<Clock::duration>(rest_factor * (now - begin), rest_max));
  };
  try {
    store_.publish(std::move(group));
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
  if (!group.empty()) store_.publish(std::move(group));
  packs_.publish_all();
}

}  // namespace sabath
