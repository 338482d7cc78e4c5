#include "convert/arrays.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "base/file.h"
#include "formats/bytes.h"
#include "formats/npy.h"
#include "infer/samples.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

struct ArrayFile {
  Fd fd;
  Npy header;
  TensorType type = TensorType::float32;
};

ArrayFile open_array(const fs::path& file) {
  const std::string name = printable(file.native(), 4096);
  auto fd = try_open_file(file, O_RDONLY | O_NONBLOCK);
  if (!fd) throw Error(FailureKind::not_found, "there is no file " + name);
  ArrayFile array{std::move(*fd), read_npy_header(file), {}};
  refuse_objects(array.header, name);
  refuse_fortran(array.header, name);
  const auto type = try_npy_type(array.header.descr);
  if (!type) {
    throw Error(FailureKind::usage, fmt::format("{} has elements {}", name, printable(array.header.descr, 200)),
                "models take plain numbers in little-endian order: convert it with x.astype('float32')");
  }
  array.type = *type;
  return array;
}

void read_whole(const ArrayFile& array, std::span<std::byte> into, std::uint64_t offset, const fs::path& file) {
  if (read_at(array.fd.get(), into, array.header.data_offset + offset, file) != into.size())
    throw Error(FailureKind::content, printable(file.native(), 4096) + " became shorter while it was read");
}

}  // namespace

Tensor read_array(const fs::path& file, std::uint64_t bytes_max) {
  const ArrayFile array = open_array(file);
  Tensor tensor{array.type, {array.header.shape.begin(), array.header.shape.end()}, {}};
  tensor.bytes.resize(bytes_of(tensor.type, tensor.shape, bytes_max));
  read_whole(array, tensor.bytes, 0, file);
  return tensor;
}

std::uint64_t rows_of(const fs::path& file) {
  const ArrayFile array = open_array(file);
  if (array.header.shape.empty()) {
    throw Error(FailureKind::usage, printable(file.native(), 4096) + " is one number, not an array of samples",
                "its first axis counts the samples");
  }
  return array.header.shape.front();
}

Tensor read_rows(const fs::path& file, const std::vector<std::uint64_t>& rows) {
  const ArrayFile array = open_array(file);
  Tensor tensor{array.type, {array.header.shape.begin(), array.header.shape.end()}, {}};
  if (tensor.shape.empty()) throw Error(FailureKind::usage, printable(file.native(), 4096) + " is one number");
  const auto there = static_cast<std::uint64_t>(tensor.shape.front());
  tensor.shape.front() = 1;
  const std::size_t row_bytes = bytes_of(tensor.type, tensor.shape, array_bytes_max);
  tensor.shape.front() = static_cast<std::int64_t>(rows.size());
  tensor.bytes.resize(bytes_of(tensor.type, tensor.shape, array_bytes_max));
  std::span<std::byte> left(tensor.bytes);
  for (const std::uint64_t row : rows) {
    if (row >= there) throw Error(FailureKind::internal, "a row that is not there");
    read_whole(array, left.first(row_bytes), row * row_bytes, file);
    left = left.subspan(row_bytes);
  }
  return tensor;
}

void write_array(const fs::path& file, const Tensor& array) {
  NewFile out(file);
  out.write(npy_header(npy_descr(array.type), {array.shape.begin(), array.shape.end()}));
  out.write({reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()});
  static_cast<void>(out.finish());
}

}  // namespace sabath
