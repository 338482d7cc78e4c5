// A set of bytes of one file, as disjoint half-open intervals. A plain value; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace sabath {

struct ByteRange {
  std::uint64_t begin = 0, end = 0;
  [[nodiscard]] std::uint64_t size() const { return end - begin; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

class ByteSet {
 public:
  void add(ByteRange range);     // what is there already may be added again
  void remove(ByteRange range);  // what is not there may be removed
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] std::uint64_t size() const { return size_; }  // bytes
  // The interval that holds `at`, or else the next one after it, cut to begin at `at` or later.
  [[nodiscard]] std::optional<ByteRange> find_from(std::uint64_t at) const;

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // begin -> end
  std::uint64_t size_ = 0;
};

}  // namespace sabath
