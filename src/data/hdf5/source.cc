#include "hdf5/source.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "base/file.h"
#include "base/wording.h"
#include "sabath/path.h"

namespace sabath::h5 {
namespace {

constexpr std::size_t sieve_bytes = 1 << 20;
constexpr std::uint64_t chunk_bytes_max = 512ULL << 20;

Handle properties_of_reading(const std::string& name) {
  Handle properties = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "prepare", name, FailureKind::internal);
  leave_unlocked(properties.get(), name);
  checked(H5Pset_sieve_buf_size(properties.get(), sieve_bytes), "prepare", name, FailureKind::internal);
  return properties;
}

Dims chunk_of(const Dataset& dataset) {
  hsize_t dims[rank_max];
  const int rank = checked(H5Pget_chunk(dataset.properties.get(), static_cast<int>(rank_max), dims),
                           "read the chunk shape of", dataset.name);
  if (static_cast<std::size_t>(rank) != dataset.shape.dims.size()) {
    throw Error(FailureKind::invalid, fmt::format("cannot read {}: its chunks have another rank", dataset.name));
  }
  std::uint64_t bytes = H5Tget_size(dataset.type.get());
  for (int i = 0; i < rank; ++i) bytes = product(bytes, dims[i], dataset.name);
  if (bytes == 0 || bytes > chunk_bytes_max) {
    throw Error(FailureKind::invalid,
                fmt::format("cannot read {}: a chunk has {} bytes, and at most {} can be held", dataset.name, bytes,
                            chunk_bytes_max),
                "rewrite the file with smaller chunks (h5repack)");
  }
  return {dims, dims + rank};
}

}  // namespace

Source::Source(const std::filesystem::path& path) : name_(printable(path.filename().string())) {
  prepare_library();
  const std::optional<Fd> fd = try_open_file(path, O_RDONLY);
  if (!fd) {
    throw Error(FailureKind::not_found, fmt::format("cannot read {}: there is no such file", printable(path.string())),
                fmt::format("`{} NAME` prints where a fetched asset is", verb_text("path")));
  }
  struct stat status {};
  if (::fstat(fd->get(), &status) != 0) throw_errno("stat", path, errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error(FailureKind::invalid, fmt::format("cannot read {}: it is no regular file", printable(path.string())),
                "name the HDF5 file itself");
  }
  size_bytes_ = static_cast<std::uint64_t>(status.st_size);
  const std::string shown = printable(path.string(), 4096);
  file_ = own(H5Fopen(path.c_str(), H5F_ACC_RDONLY, properties_of_reading(shown).get()), H5Fclose, "open", shown);
}

std::string Source::label(std::string_view object) const { return name_ + ":" + printable(object, 1024); }

Storage storage_of(hid_t creation_properties) {
  if (H5Pget_external_count(creation_properties) != 0) return Storage::external;
  switch (H5Pget_layout(creation_properties)) {
    case H5D_COMPACT:
      return Storage::compact;
    case H5D_CONTIGUOUS:
      return Storage::contiguous;
    case H5D_CHUNKED:
      return Storage::chunked;
    default:
      return Storage::elsewhere;
  }
}

Shape shape_of(hid_t dataspace, std::string_view name) {
  Shape shape;
  shape.kind = H5Sget_simple_extent_type(dataspace);
  if (shape.kind == H5S_NO_CLASS) throw_failure("read the shape of", name);
  if (shape.kind != H5S_SIMPLE) return shape;
  hsize_t dims[rank_max], dims_max[rank_max];
  const int rank = checked(H5Sget_simple_extent_dims(dataspace, dims, dims_max), "read the shape of", name);
  shape.dims.assign(dims, dims + rank);
  shape.dims_max.assign(dims_max, dims_max + rank);
  return shape;
}

std::uint64_t product(std::uint64_t a, std::uint64_t b, std::string_view name) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    throw Error(FailureKind::invalid, fmt::format("cannot read {}: its size is absurd", name),
                "the file may be damaged or hostile: do not trust it");
  }
  return result;
}

std::uint64_t element_count(const Shape& shape, std::string_view name) {
  if (shape.kind == H5S_NULL) return 0;
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape.dims) {
    if (extent == 0) return 0;
    count = product(count, extent, name);
  }
  return count;
}

Dataset open_dataset(const Source& source, const std::string& path, std::size_t cache_bytes) {
  Dataset dataset;
  dataset.name = source.label(path);
  const Handle access = own(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, "prepare", dataset.name, FailureKind::internal);
  constexpr std::size_t slots = 12289;  // a prime, many times the chunks that fit
  checked(H5Pset_chunk_cache(access.get(), slots, cache_bytes, 1.0), "prepare", dataset.name, FailureKind::internal);
  dataset.id = own(H5Dopen2(source.id(), path.c_str(), access.get()), H5Dclose, "open", dataset.name);
  dataset.properties = own(H5Dget_create_plist(dataset.id.get()), H5Pclose, "read the storage of", dataset.name);
  dataset.storage = storage_of(dataset.properties.get());
  if (dataset.storage == Storage::external || dataset.storage == Storage::elsewhere) {
    throw Error(
        FailureKind::invalid, fmt::format("cannot read {}: its data are in other files", dataset.name),
        "external and virtual data are not followed: make a copy that holds them (h5repack), or select other datasets");
  }
  dataset.type = own(H5Dget_type(dataset.id.get()), H5Tclose, "read the type of", dataset.name);
  const Handle space = own(H5Dget_space(dataset.id.get()), H5Sclose, "read the shape of", dataset.name);
  dataset.shape = shape_of(space.get(), dataset.name);
  (void)product(element_count(dataset.shape, dataset.name), H5Tget_size(dataset.type.get()), dataset.name);
  if (dataset.storage == Storage::chunked) dataset.chunk = chunk_of(dataset);
  return dataset;
}

Handle make_space(const Dims& extents, std::string_view name) {
  const std::vector<hsize_t> dims(extents.begin(), extents.end());
  return own(
      dims.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr),
      H5Sclose, "shape", name);
}

void select_box(hid_t space, const Dims& begin, const Dims& extent, std::string_view name) {
  if (begin.empty()) return;
  const std::vector<hsize_t> start(begin.begin(), begin.end()), count(extent.begin(), extent.end());
  checked(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), "select from",
          name);
}

void read_box(const Dataset& dataset, const Box& box, hid_t memory_type, hid_t space, std::byte* to) {
  select_box(space, box.begin, box.extent, dataset.name);
  const Handle memory = make_space(box.extent, dataset.name);
  checked(H5Dread(dataset.id.get(), memory_type, memory.get(), space, H5P_DEFAULT, to), "read", dataset.name);
}

}  // namespace sabath::h5
