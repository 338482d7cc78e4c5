// A small HDF5 file of arrays and attributes, written whole: no chunks, no filters, no times, the format of HDF5 1.8.
// The same values give the same bytes. One thread at a time. Throws Error{storage} or Error{space}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace sabath {

struct Hdf5Array {
  std::string name;
  std::vector<std::uint64_t> extents;  // their product is the number of values
  std::variant<std::vector<std::int16_t>, std::vector<double>, std::vector<std::string>> values;
};

struct Hdf5Scalar {  // of the root group, a scalar; texts have a fixed length, as arrays of texts do
  std::string name;
  std::variant<std::int64_t, std::string> value;
};

struct Hdf5Arrays {
  std::vector<Hdf5Scalar> attributes;
  std::vector<Hdf5Array> arrays;
};

// Replaces `file`, whose directory exists.
void write_hdf5(const std::filesystem::path& file, const Hdf5Arrays& content);

}  // namespace sabath
