// An HDF5 file open for reading, and nothing outside it: no lock is taken; external links, external data files and
// virtual datasets are never followed. One thread at a time. Throws Error: `content` for a truncated file, `invalid`
// for a file that is no HDF5, is damaged or leads outside, `not_found`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hdf5/handle.h"
#include "hdf5/tiles.h"

namespace sabath::h5 {

inline constexpr std::size_t rank_max = H5S_MAX_RANK;
using Dims = std::vector<std::uint64_t>;

class Source {
 public:
  explicit Source(const std::filesystem::path& path);
  [[nodiscard]] hid_t id() const { return file_.get(); }
  [[nodiscard]] std::uint64_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] std::string label(std::string_view object) const;  // "file.h5:/group/x", printable

 private:
  std::string name_;
  std::uint64_t size_bytes_ = 0;
  Handle file_;
};

enum class Storage { compact, contiguous, chunked, external, elsewhere };  // elsewhere: virtual, or unknown to us
[[nodiscard]] Storage storage_of(hid_t creation_properties);

struct Shape {
  H5S_class_t kind = H5S_NULL;
  Dims dims, dims_max;  // of H5S_SIMPLE
};
[[nodiscard]] Shape shape_of(hid_t dataspace, std::string_view name);
// Elements of a shape; throws Error{invalid} where the product leaves 64 bits.
[[nodiscard]] std::uint64_t element_count(const Shape& shape, std::string_view name);
[[nodiscard]] std::uint64_t product(std::uint64_t a, std::uint64_t b, std::string_view name);

// A dataset whose data can be read, with all that a read needs.
struct Dataset {
  Handle id, type, properties;
  std::string name;  // a label, for messages
  Storage storage = Storage::contiguous;
  Shape shape;
  Dims chunk;  // of Storage::chunked
};
// Refuses data that lie outside the file, and chunks too large to hold. `cache_bytes` is for its chunks.
[[nodiscard]] Dataset open_dataset(const Source& source, const std::string& path, std::size_t cache_bytes);

// A dataspace of these extents, a scalar for none; and a box of one selected.
[[nodiscard]] Handle make_space(const Dims& extents, std::string_view name);
void select_box(hid_t space, const Dims& begin, const Dims& extent, std::string_view name);
// Reads a box of elements, as `memory_type`, in C order; `space` is the dataset's and has the box selected then.
void read_box(const Dataset& dataset, const Box& box, hid_t memory_type, hid_t space, std::byte* to);

}  // namespace sabath::h5
