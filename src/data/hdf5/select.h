// Makes an HDF5 file from a part of another one. It has the selected datasets, with their attributes. The same
// selection of the same data gives the same bytes for any user, at any time. docs/hdf5.md.
//
// The source is read once, in tiles of contiguous rows or whole chunks, and picked from in memory. Memory is bounded by
// twice the buffer, or twice a chunk where one is larger. One thread; several threads may select at the same time, but
// HDF5 lets one in at a time. Damaged files can end the process inside HDF5: see own_process.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "hdf5/selection.h"
#include "sabath/digest.h"

namespace sabath {

struct SelectOptions {
  enum class Filter { none, gzip, zstd, keep };  // keep: the chunks and filters of the source
  Filter filter = Filter::none;
  std::vector<std::uint64_t> blocks;  // cut the first selection into blocks of this shape; the last may be smaller
  bool blocks_as_groups = false;      // /000, /001, ... of one file; else files OUT/OUT_000.hdf5, ...
  // Blocks in files: only part `part` of `parts`, whole rows of blocks along the first axis; perhaps none. All parts
  // together make the files of the whole, the same bytes.
  std::uint64_t part = 0, parts = 1;
  bool rest = false;                    // also everything that was not named, whole
  std::optional<Digest> source_digest;  // for the provenance attribute
  bool sync = true;                     // fsync before the name appears; false: the caller makes it durable
  std::filesystem::path unfinished;     // where it is made, beside `out`; default: OUT.new
  std::uint64_t buffer_bytes = 64 << 20;
  std::function<void()> on_progress = [] {};  // at each tile and dataset
  std::stop_token stop;                       // asked for at each tile
};

struct SelectedFile {
  std::vector<std::filesystem::path> files;  // one, or one for each block
  std::vector<std::string> left_out;         // "/x: why": references, links, of what was not asked for by its name
  std::uint64_t bytes_read = 0;              // of datasets, without filters: the selection and the gaps read through
  std::uint64_t bytes_selected = 0;
  std::uint64_t bytes_written = 0;  // length of the files
  double seconds = 0;
};

inline constexpr std::uint64_t blocks_max = 65536;
inline constexpr std::uint64_t block_files_open_max = 256;

// Writes `out`, a file (replaced), or for blocks in files a directory (must be absent or empty), by rename when it is
// whole. Throws Error: `usage` for an index out of bounds or blocks that do not fit, `not_found` for a path, `space`
// before byte one, `invalid`, `content`, `storage`, `interrupted`; `out` is then as it was.
[[nodiscard]] SelectedFile select_into(const std::filesystem::path& source, const Selections& selections,
                                       const std::filesystem::path& out, const SelectOptions& options);

}  // namespace sabath
