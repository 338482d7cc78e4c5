// Reads a pack whole and tells what of it is right. Free function; any thread. Throws Error{storage} where it cannot be
// read, and what the callbacks throw.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/file.h"
#include "store/packs/pack_format.h"

namespace sabath {

struct PackScan {
  bool whole = true;            // head, index and end are what a pack has, and the index is the one of its name
  std::vector<PackMember> bad;  // do not hold what the index says
  std::uint64_t members = 0, bytes_read = 0;
};

struct PackScanOptions {
  bool quick = false;                           // what is stored is compared by XXH3, and nothing is unpacked
  std::function<void(std::uint64_t)> on_bytes;  // may be empty
  std::function<void(const PackMember&, std::span<const std::byte> stored)> on_member;  // right ones; may be empty
};

// `name`: the hash of the index, and the length. Of a damaged index what is sane by itself is tried all the same.
[[nodiscard]] PackScan scan_pack(int fd, const std::filesystem::path& file, const Digest& name,
                                 const PackScanOptions& options);

}  // namespace sabath
