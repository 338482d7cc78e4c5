// Requests to the process that calls HDF5, and its answers, as bytes: own_process.h is the one side,
// src/front/companion the other. Pure. Readers throw Error{internal} for bytes that end early, Error{usage} for a wrong
// selection.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hdf5/extract.h"
#include "hdf5/logical_hash.h"
#include "hdf5/select.h"

namespace sabath {

// Of a read for which the memory of that process does not suffice.
inline constexpr const char* hdf5_memory_hint =
    "select less of it at a time, such as x[0:N] and then x[N:M]; a file that is small itself states an absurd size: "
    "do "
    "not trust it";

struct Hdf5Request {
  enum class What { inspect, hash, select, extract };
  What what = What::inspect;
  std::filesystem::path file;
  bool objects = false;  // hash: each object's, too
  // select, and of one selection extract:
  Selections selections;
  std::filesystem::path out;
  std::uint64_t offset = 0;  // extract: in `out`, which may be none
  SelectOptions options;     // without its functions

  [[nodiscard]] std::string encode() const;
  [[nodiscard]] static Hdf5Request parse(std::string_view bytes);
};

[[nodiscard]] std::string encode_hash(const LogicalHash& hash);
[[nodiscard]] LogicalHash parse_hash(std::string_view bytes);
[[nodiscard]] std::string encode_selected(const SelectedFile& made);
[[nodiscard]] SelectedFile parse_selected(std::string_view bytes);
[[nodiscard]] std::string encode_extracted(const Extracted& made);
[[nodiscard]] Extracted parse_extracted(std::string_view bytes);

}  // namespace sabath
