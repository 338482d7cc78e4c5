// How a selection is read: in tiles, boxes of the dataset that are each read at once. Tiles follow the order of the
// file; each byte is read once, and elements are picked from memory. Small gaps in the selection are read through;
// large ones are skipped. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hdf5/selection.h"

namespace sabath {

struct Box {
  std::vector<std::uint64_t> begin, extent;

  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t n = 1;
    for (const std::uint64_t e : extent) n *= e;
    return n;
  }
  friend bool operator==(const Box&, const Box&) = default;
};

struct TilePlan {
  std::vector<std::uint64_t> extents;  // of the dataset
  std::vector<std::uint64_t> unit;     // chunk shape; all 1 where rows lie one after the other
  bool rows = true;                    // they do: whole rows are one read
  std::size_t element_bytes = 1;
  std::vector<AxisRange> ranges;        // what is wanted
  std::uint64_t tile_bytes = 64 << 20;  // a tile is no larger, unless a chunk is
  std::uint64_t gap_bytes = 1 << 20;    // what is cheaper to read than to skip
};

class Tiles {
 public:
  explicit Tiles(const TilePlan& plan);  // every range has at least one element
  [[nodiscard]] std::optional<Box> next();

  // The part of the selection that a tile holds, in numbers of the ranges: begin[a] <= i < begin[a] + extent[a].
  [[nodiscard]] Box selected(const Box& tile) const;
  [[nodiscard]] std::uint64_t tile_bytes() const;  // of the largest

 private:
  [[nodiscard]] std::uint64_t first_begin(std::size_t axis) const;
  [[nodiscard]] std::optional<std::uint64_t> begin_after(std::size_t axis, std::uint64_t begin) const;

  TilePlan plan_;
  Box box_;  // what is between the first and the last element, widened
  std::vector<std::uint64_t> shape_, at_;
  bool done_ = false;
};

}  // namespace sabath
