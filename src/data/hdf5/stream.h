// One dataset's selection on its way: read tile by tile, cut along a grid of blocks, written to the block's dataset.
// One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "hdf5/select.h"
#include "hdf5/source.h"
#include "hdf5/tiles.h"

namespace sabath::h5 {

// The destination of a block. It is finished and destroyed as soon as the block is complete.
class Piece {
 public:
  virtual ~Piece() = default;
  [[nodiscard]] virtual hid_t dataset() const = 0;
  virtual void finish() = 0;
};

// The cut of a selection. Axes that an integer dropped have one block of extent 1.
class Grid {
 public:
  // `blocks` has one extent for each axis that is left, or none for a single block. Throws Error{usage}.
  Grid(const std::vector<AxisRange>& ranges, const std::vector<std::uint64_t>& blocks);

  [[nodiscard]] std::uint64_t count() const;     // 0 for an empty selection
  [[nodiscard]] std::uint64_t open_max() const;  // blocks with the same place on the first axis
  [[nodiscard]] std::uint64_t index(const std::vector<std::uint64_t>& place) const;  // C order: the published number
  [[nodiscard]] Box box(std::uint64_t index) const;                                  // in numbers of the ranges
  [[nodiscard]] Dims extents(const Box& box) const;  // without the axes that were dropped
  [[nodiscard]] std::vector<std::uint64_t> meeting(const Box& selected) const;

 private:
  std::vector<AxisRange> ranges_;
  std::vector<std::uint64_t> block_, blocks_;
};

struct Streamed {
  std::uint64_t bytes_read = 0, bytes_selected = 0;
};

// Of the options: the buffer, the stop, the progress. `open` is called once for each block, in no promised order, when
// its first element arrives.
Streamed stream(const Dataset& source, const std::vector<AxisRange>& ranges, const Grid& grid,
                const SelectOptions& options, const std::function<std::unique_ptr<Piece>(std::uint64_t block)>& open);

}  // namespace sabath::h5
