// NumPy's .npy files: the header, read and written; the data stand behind it, one element after the other. Versions
// 1.0, 2.0 and 3.0. Source: numpy.lib.format. Pure but for read_npy_header; any thread. Throws Error{invalid} for bytes
// that are no header, or a header that lies; {content} where the file ends early.
//
// An array of objects is a pickle behind the header: reading it means running it. Its header is read, refuse_objects()
// names it. Fortran order (the first index runs fastest) is stated; no reader of this room changes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct Npy {
  std::string descr;  // of one element: "<f4", "|S7", or as it stands there, a list of fields: "[('x', '<f4')]"
  bool fortran_order = false;
  bool objects = false;              // of any field: the data are a pickle
  std::vector<std::uint64_t> shape;  // empty: a scalar
  unsigned version = 1;
  std::uint64_t data_offset = 0;
  std::uint64_t element_bytes = 0, elements = 0, data_bytes = 0;  // 0 of objects
};

inline constexpr std::size_t npy_header_bytes_max = 1 << 20;  // NumPy itself reads 10,000 at most unless it is told

[[nodiscard]] bool is_npy(std::string_view first_bytes);
// How many of a file's bytes parse_npy_header() needs, by the first 12; at most npy_header_bytes_max.
[[nodiscard]] std::size_t npy_header_bytes(std::string_view begin);
// `begin`: the file's first bytes, of which npy_header_bytes() are enough. `name` is for messages.
[[nodiscard]] Npy parse_npy_header(std::string_view begin, std::string_view name);
// Checks, too, that the data are there. What stands behind them is an error.
[[nodiscard]] Npy read_npy_header(const std::filesystem::path& file);
// Version 1.0, C order; the data begin at a multiple of 64 bytes.
[[nodiscard]] std::string npy_header(std::string_view descr, const std::vector<std::uint64_t>& shape);

void refuse_objects(const Npy& array, std::string_view name);  // throws Error{invalid}
void refuse_fortran(const Npy& array, std::string_view name);  // throws Error{usage}: with two or more axes

// Numbers of such elements as float32, rounded to the nearest. `descr`: of b1, i1 to i8, u1 to u8, f2, f4, f8 in any
// byte order; throws Error{usage} for others. bytes.size() is a multiple of the element's.
[[nodiscard]] std::vector<float> as_floats(std::string_view descr, std::string_view bytes, std::string_view name);

[[nodiscard]] float half_to_float(std::uint16_t half);  // IEEE 754 binary16; exact

}  // namespace sabath
