// The elements of one selection, one after the other in C order and little-endian, as other formats hold them: written
// into a file at an offset. Bounded memory. One thread at a time. Throws Error as hdf5/source.h says, and {usage} for a
// type that has no such form: text and lists of any length, compounds, references.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hdf5/selection.h"

namespace sabath {

struct Extracted {
  std::string descr;                 // the type as NumPy names it: "<i2", "<f4", "|b1", "|S7"
  std::vector<std::uint64_t> shape;  // of the selection; empty: a scalar
  std::uint64_t bytes = 0;           // of all elements
};

// Writes them to `out`, a file that exists, from byte `offset` on; without `out` it only says what they are.
[[nodiscard]] Extracted extract_into(
    const std::filesystem::path& source, const Hyperslab& selection, const std::filesystem::path& out,
    std::uint64_t offset, const std::function<void()>& on_progress = [] {});

}  // namespace sabath
