#include "base/byte_set.h"

#include <algorithm>
#include <iterator>

namespace sabath {

void ByteSet::add(ByteRange range) {
  if (range.begin >= range.end) return;
  remove(range);
  size_ += range.size();
  auto next = ranges_.lower_bound(range.begin);
  if (next != ranges_.end() && next->first == range.end) {
    range.end = next->second;
    next = ranges_.erase(next);
  }
  if (next != ranges_.begin() && std::prev(next)->second == range.begin) {
    std::prev(next)->second = range.end;
  } else {
    ranges_.emplace(range.begin, range.end);
  }
}

void ByteSet::remove(ByteRange range) {
  if (range.begin >= range.end) return;
  auto at = ranges_.upper_bound(range.begin);
  if (at != ranges_.begin()) --at;
  while (at != ranges_.end() && at->first < range.end) {
    const auto [begin, end] = *at;
    if (end <= range.begin) {
      ++at;
      continue;
    }
    at = ranges_.erase(at);
    size_ -= std::min(end, range.end) - std::max(begin, range.begin);
    if (begin < range.begin) ranges_.emplace(begin, range.begin);
    if (end > range.end) ranges_.emplace(range.end, end);
  }
}

std::optional<ByteRange> ByteSet::find_from(std::uint64_t at) const {
  auto next = ranges_.upper_bound(at);
  if (next != ranges_.begin() && std::prev(next)->second > at) return ByteRange{at, std::prev(next)->second};
  if (next == ranges_.end()) return std::nullopt;
  return ByteRange{next->first, next->second};
}

}  // namespace sabath
