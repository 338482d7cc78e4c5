// The logical hash of an HDF5 file: equal for equal data. Chunks, filters, byte order, times, the order of creation and
// the version of the writing library do not count. docs/hdf5.md defines it byte by byte, with test vectors.
//
// Reads every byte of data once, in bounded memory; nothing outside the file. One thread at a time. Throws Error as
// hdf5/source.h says; {invalid} also for region references, times and links of unknown classes, which have no logical
// form, and for datasets that claim far more than they store; {interrupted}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/digest.h"

namespace sabath {

struct ObjectHash {
  std::string path;
  char kind = 'g';          // g group, d dataset, t type, a alias, l soft link, x external link
  Sha256 hash;              // of g, d, t
  std::uint64_t bytes = 0;  // of canonical data; of d
};

struct LogicalHash {
  Sha256 hash;
  std::vector<ObjectHash> objects;  // by path, parents first
  std::uint64_t bytes = 0;          // of data that were hashed

  [[nodiscard]] std::string text() const { return "hdf5-v1:" + hash.hex(); }
};

// `on_progress` is called for each object and each few mebibytes.
[[nodiscard]] LogicalHash logical_hash(
    const std::filesystem::path& file, std::stop_token stop, const std::function<void()>& on_progress = [] {});

}  // namespace sabath
