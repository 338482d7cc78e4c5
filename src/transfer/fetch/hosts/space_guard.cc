#include "fetch/hosts/space_guard.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sabath/error.h"

namespace sabath {

namespace {
constexpr auto uncounted = std::numeric_limits<std::uint64_t>::max();
// Many small files of unknown sizes are reserved in batches: beyond what is lacking, 1/more_part of what was granted so
// far, between these bounds. The upper bound leaves room for other fetches.
constexpr std::uint64_t more_bytes_min = 16ULL << 20, more_bytes_max = 1ULL << 30;
constexpr std::uint64_t tight_bytes = 1ULL << 30;
constexpr std::uint64_t more_inodes_min = 1024, more_inodes_max = 65536, more_part = 64;

void take(std::uint64_t& from, std::uint64_t amount) {
  if (from != uncounted) from -= std::min(from, amount);
}

// Room that this process was promised before is not free, though nothing is written there yet.
void take(Limits& limits, const Promised& own) {
  take(limits.bytes_free, own.bytes);
  if (limits.inodes_free) take(*limits.inodes_free, own.inodes);
  for (Quota& quota : limits.quotas) {
    if (quota.bytes_left) take(*quota.bytes_left, own.bytes);
    if (quota.inodes_left) take(*quota.inodes_left, own.inodes);
  }
  if (limits.memory) take(limits.memory->bytes, own.bytes);
}
}  // namespace

SpaceGuard::SpaceGuard(Space space, std::string store) {
  limits_.place = std::move(store);
  limits_.bytes_free = space.bytes_free;
  if (space.inodes_free != uncounted) limits_.inodes_free = space.inodes_free;
}

SpaceGuard::SpaceGuard(Store& store, std::string note, std::function<Ahead()> ahead, std::stop_token stop)
    : store_(&store), ahead_(std::move(ahead)), stop_(std::move(stop)) {
  reservation_.emplace(store, std::move(note));
}

void SpaceGuard::reserve(const Need& need, const std::string& what) {
  const std::lock_guard lock(mutex_);
  reserve_ahead();
  if (!reservation_) {
    if (const auto failure = refusal_of(limits_, need, {}, what)) throw Error(*failure);
    take(limits_.bytes_free, need.bytes);
    if (limits_.inodes_free) take(*limits_.inodes_free, need.inodes);
    return;
  }
  check_file(need, what);
  if (need.bytes > promised_left_.bytes_free || need.inodes > promised_left_.inodes_free) {
    Need lack = need;
    lack.bytes -= std::min(lack.bytes, promised_left_.bytes_free);
    lack.inodes -= std::min(lack.inodes, promised_left_.inodes_free);
    Need more = lack;
    if (lack.bytes > 0) more.bytes += std::clamp(granted_bytes_ / more_part, more_bytes_min, more_bytes_max);
    if (lack.inodes > 0) more.inodes += std::clamp(granted_inodes_ / more_part, more_inodes_min, more_inodes_max);
    try {
      grow(more, what);
    } catch (const Error& error) {
      if (error.failure().kind != FailureKind::space) throw;
      grow(lack, what);
    }
  }
  promised_left_.bytes_free -= need.bytes;
  promised_left_.inodes_free -= need.inodes;
}

void SpaceGuard::reserve_ahead() {
  if (!ahead_) return;
  const Ahead ahead = std::exchange(ahead_, nullptr)();
  if (ahead.need.bytes == 0 && ahead.need.inodes == 0) return;
  grow(ahead.need, ahead.what);
}

// The limits are as they were read for the last promise: this one does not change from moment to moment.
void SpaceGuard::check_file(const Need& need, const std::string& what) const {
  if (!limits_.file_size || need.biggest_file <= limits_.file_size->bytes) return;
  Limits limits;
  limits.place = limits_.place;
  limits.bytes_free = uncounted;
  limits.file_size = limits_.file_size;
  if (const auto failure = refusal_of(limits, {0, 0, need.biggest_file, need.biggest_name}, {}, what)) {
    throw Error(*failure);
  }
}

void SpaceGuard::grow(const Need& need, const std::string& what) {
  const auto judge = [&](const Promised& others, const Promised& own) {
    limits_ = read_limits(store_->directory(), stop_);
    Limits left = limits_;
    take(left, own);
    return refusal_of(left, need, others, what);
  };
  reservation_->grow(need.bytes, need.inodes, judge, stop_);
  promised_left_.bytes_free += need.bytes;
  promised_left_.inodes_free += need.inodes;
  granted_bytes_ += need.bytes;
  granted_inodes_ += need.inodes;
}

void SpaceGuard::give_back(std::uint64_t bytes, std::uint64_t inodes) {
  const std::lock_guard lock(mutex_);
  if (reservation_) {
    promised_left_.bytes_free += bytes;
    promised_left_.inodes_free += inodes;
    return;
  }
  if (limits_.bytes_free != uncounted) limits_.bytes_free += bytes;
  if (limits_.inodes_free) *limits_.inodes_free += inodes;
}

bool SpaceGuard::tight() {
  const std::lock_guard lock(mutex_);
  if (!reservation_) return limits_.bytes_free < tight_bytes;
  const auto bounds = bounds_of(read_limits(store_->directory(), stop_), {}, promised_by_others(*store_));
  return std::ranges::any_of(
      bounds, [](const Bound& bound) { return bound.unit == Bound::Unit::bytes && bound.available() < tight_bytes; });
}

std::vector<std::string> SpaceGuard::unknown() {
  const std::lock_guard lock(mutex_);
  return limits_.unknown;
}

}  // namespace sabath
