#include "hdf5/pick.h"

#include <cstring>

namespace sabath {
namespace {

template <typename Value>
Value load(const std::byte* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// The first element of each of `count` groups: a group is loaded whole and cut, which compilers turn into vector
// shuffles. The caller leaves the last group to its plain loop: the box may end within it.
template <typename Element, typename Group>
std::uint64_t cut_groups(const std::byte* from, std::byte* to, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto element = static_cast<Element>(load<Group>(from + i * sizeof(Group)));
    std::memcpy(to + i * sizeof(Element), &element, sizeof element);
  }
  return count;
}

template <typename Element>
void copy_strided(const std::byte* from, std::byte* to, std::uint64_t count, std::uint64_t stride) {
  std::uint64_t done = 0;
  if constexpr (sizeof(Element) <= 2) {
    if (stride == 2 * sizeof(Element) && sizeof(Element) == 2)
      done = cut_groups<Element, std::uint32_t>(from, to, count - 1);
    if (stride == 8) done = cut_groups<Element, std::uint64_t>(from, to, count - 1);
  } else if constexpr (sizeof(Element) == 4) {
    if (stride == 8) done = cut_groups<Element, std::uint64_t>(from, to, count - 1);
  }
  for (std::uint64_t i = done; i < count; ++i)
    std::memcpy(to + i * sizeof(Element), from + i * stride, sizeof(Element));
}

void copy_axis(const PickAxis& axis, std::uint64_t run, const std::byte* from, std::byte* to) {
  switch (run) {
    case 1:
      return copy_strided<std::uint8_t>(from, to, axis.count, axis.stride);
    case 2:
      return copy_strided<std::uint16_t>(from, to, axis.count, axis.stride);
    case 4:
      return copy_strided<std::uint32_t>(from, to, axis.count, axis.stride);
    case 8:
      return copy_strided<std::uint64_t>(from, to, axis.count, axis.stride);
    default:
      for (std::uint64_t i = 0; i < axis.count; ++i) std::memcpy(to + i * run, from + i * axis.stride, run);
  }
}

std::byte* pick_axes(std::span<const PickAxis> axes, std::uint64_t run, const std::byte* from, std::byte* to) {
  if (axes.size() == 1) {
    copy_axis(axes[0], run, from, to);
    return to + axes[0].count * run;
  }
  for (std::uint64_t i = 0; i < axes[0].count; ++i) to = pick_axes(axes.subspan(1), run, from + i * axes[0].stride, to);
  return to;
}

}  // namespace

Pick make_pick(std::span<const std::uint64_t> extents, std::span<const std::uint64_t> begin,
               std::span<const std::uint64_t> step, std::span<const std::uint64_t> count, std::size_t element_bytes) {
  Pick result{{}, element_bytes, 0};
  std::uint64_t stride = element_bytes;
  for (std::size_t a = extents.size(); a-- > 0; stride *= extents[a]) {
    result.offset_bytes += begin[a] * stride;
    if (count[a] == 1) continue;
    const std::uint64_t between = step[a] * stride;
    if (result.axes.empty() && between == result.run_bytes) {
      result.run_bytes *= count[a];
    } else if (!result.axes.empty() && between == result.axes.front().count * result.axes.front().stride) {
      result.axes.front().count *= count[a];
    } else {
      result.axes.insert(result.axes.begin(), {count[a], between});
    }
  }
  return result;
}

std::byte* pick(const Pick& pick, const std::byte* from, std::byte* to) {
  from += pick.offset_bytes;
  if (!pick.contiguous()) return pick_axes(pick.axes, pick.run_bytes, from, to);
  std::memcpy(to, from, pick.run_bytes);
  return to + pick.run_bytes;
}

}  // namespace sabath
