// The language of selections from an HDF5 file: `full[:,:,:,0]`, `group/x[10:20:2, ...]`, `physPar`.
// Grammar and meaning: docs/hdf5.md; an index means the same as in h5py. Pure, plain values; any thread.
// Throws Error{usage} with the place of the fault.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct HyperslabIndex {
  enum class Kind { all, one, range };  // all: `...`
  Kind kind = Kind::all;
  std::optional<std::int64_t> start, stop;  // one: start; negative ones count from the end
  std::int64_t step = 1;

  friend bool operator==(const HyperslabIndex&, const HyperslabIndex&) = default;
};

struct Hyperslab {
  std::string path;                     // absolute: "/group/x", "/" for everything
  bool whole = true;                    // no index was given; a group means all below it
  std::vector<HyperslabIndex> indices;  // at most one of Kind::all

  friend bool operator==(const Hyperslab&, const Hyperslab&) = default;
};
using Selections = std::vector<Hyperslab>;

[[nodiscard]] Hyperslab parse_selection(std::string_view text);
// The shortest text with the same meaning, for the provenance attribute.
[[nodiscard]] std::string format_selection(const Hyperslab& selection);

// "128,128,128,4": the extents of the blocks that a selection is cut into.
[[nodiscard]] std::vector<std::uint64_t> parse_block_shape(std::string_view text);

// The elements that an index takes of one axis: element i < count is begin + i * step; the last is below the extent.
struct AxisRange {
  std::uint64_t begin = 0, count = 0, step = 1;
  bool dropped = false;  // by an integer: the result has no such axis

  friend bool operator==(const AxisRange&, const AxisRange&) = default;
};

// One range for each axis. Throws Error{usage} for an index that is out of bounds, or too many of them.
[[nodiscard]] std::vector<AxisRange> resolve_hyperslab(const Hyperslab& selection,
                                                       std::span<const std::uint64_t> extents);

}  // namespace sabath
