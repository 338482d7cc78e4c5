// Picks elements of a box in memory: a strided copy of any rank, in runs as few and as long as the strides allow. Pure;
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sabath {

struct PickAxis {
  std::uint64_t count = 0;   // elements to take
  std::uint64_t stride = 0;  // bytes from one to the next
};

// A pick without the axes that are none: those of one element, and those that run on in the next inner one.
struct Pick {
  std::vector<PickAxis> axes;      // outermost first; of each count > 1
  std::uint64_t run_bytes = 0;     // what is contiguous at each place
  std::uint64_t offset_bytes = 0;  // of the first

  [[nodiscard]] bool contiguous() const { return axes.empty(); }
};

// Elements begin[a] + i * step[a], i < count[a], of a box of these extents in C order.
[[nodiscard]] Pick make_pick(std::span<const std::uint64_t> extents, std::span<const std::uint64_t> begin,
                             std::span<const std::uint64_t> step, std::span<const std::uint64_t> count,
                             std::size_t element_bytes);

// Copies them to `to`, one after the other; returns what lies behind the last.
std::byte* pick(const Pick& pick, const std::byte* from, std::byte* to);

}  // namespace sabath
