#include "hdf5/tiles.h"

#include <algorithm>

namespace sabath {
namespace {

// Bytes of one step along each axis.
std::vector<std::uint64_t> strides(const TilePlan& plan) {
  std::vector<std::uint64_t> result(plan.extents.size());
  std::uint64_t bytes = plan.element_bytes;
  for (std::size_t a = result.size(); a-- > 0; bytes *= plan.extents[a]) result[a] = bytes;
  return result;
}

std::uint64_t last_of(const AxisRange& range) { return range.begin + (range.count - 1) * range.step; }

}  // namespace

Tiles::Tiles(const TilePlan& plan) : plan_(plan), shape_(plan.unit) {
  const std::size_t rank = plan.extents.size();
  const std::vector<std::uint64_t> stride = strides(plan);
  for (std::size_t a = 0; a < rank; ++a) {
    const AxisRange& range = plan.ranges[a];
    std::uint64_t begin = range.begin / plan.unit[a] * plan.unit[a], end = last_of(range) + 1;
    const bool widen = plan.rows && a > 0 && (plan.extents[a] - (end - begin)) * stride[a] <= plan.gap_bytes;
    if (widen) begin = 0, end = plan.extents[a];
    box_.begin.push_back(begin);
    box_.extent.push_back(end - begin);
  }
  std::uint64_t bytes = plan.element_bytes;
  for (std::size_t a = 0; a < rank; ++a) bytes *= shape_[a] = std::min(shape_[a], box_.extent[a]);
  for (std::size_t a = rank; a-- > 0;) {
    const std::uint64_t others = bytes / shape_[a];
    const bool gaps = plan.ranges[a].step > shape_[a] && (plan.ranges[a].step - 1) * stride[a] > plan.gap_bytes;
    if (!gaps) {
      const std::uint64_t units = std::max<std::uint64_t>(plan.tile_bytes / others / plan.unit[a], 1);
      shape_[a] =
          units >= box_.extent[a] / plan.unit[a] + 1 ? box_.extent[a] : std::min(box_.extent[a], units * plan.unit[a]);
    }
    bytes = others * shape_[a];
    if (shape_[a] < box_.extent[a]) break;  // more of an outer axis would not be one piece
  }
  for (std::size_t a = 0; a < rank; ++a) at_.push_back(first_begin(a));
}

std::uint64_t Tiles::first_begin(std::size_t axis) const { return box_.begin[axis]; }

// The begin of the next tile along an axis: the next wanted element, or the begin of its chunk.
std::optional<std::uint64_t> Tiles::begin_after(std::size_t axis, std::uint64_t begin) const {
  const AxisRange& range = plan_.ranges[axis];
  const std::uint64_t end = begin + shape_[axis];
  if (end > last_of(range)) return std::nullopt;
  const std::uint64_t skipped = end <= range.begin ? 0 : (end - range.begin + range.step - 1) / range.step;
  const std::uint64_t wanted = range.begin + skipped * range.step;
  return std::max(end, wanted / plan_.unit[axis] * plan_.unit[axis]);
}

std::optional<Box> Tiles::next() {
  if (done_) return std::nullopt;
  Box tile{at_, shape_};
  for (std::size_t a = 0; a < at_.size(); ++a) {
    tile.extent[a] = std::min(shape_[a], box_.begin[a] + box_.extent[a] - at_[a]);
  }
  done_ = true;
  for (std::size_t a = at_.size(); a-- > 0;) {
    if (const auto begin = begin_after(a, at_[a])) {
      at_[a] = *begin;
      done_ = false;
      break;
    }
    at_[a] = first_begin(a);
  }
  return tile;
}

Box Tiles::selected(const Box& tile) const {
  Box result;
  for (std::size_t a = 0; a < tile.begin.size(); ++a) {
    const AxisRange& range = plan_.ranges[a];
    const auto number_at = [&](std::uint64_t position) {  // of the first element at or behind it
      if (position <= range.begin) return std::uint64_t{0};
      return std::min(range.count, (position - range.begin + range.step - 1) / range.step);
    };
    result.begin.push_back(number_at(tile.begin[a]));
    result.extent.push_back(number_at(tile.begin[a] + tile.extent[a]) - result.begin.back());
  }
  return result;
}

std::uint64_t Tiles::tile_bytes() const {
  std::uint64_t bytes = plan_.element_bytes;
  for (const std::uint64_t extent : shape_) bytes *= extent;
  return bytes;
}

}  // namespace sabath
