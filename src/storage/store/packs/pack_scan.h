// Reads a pack whole and tells which members are right. Free function; any thread. Throws Error{storage} if it cannot
// be read, and all that the callbacks throw.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/file.h"
#include "store/packs/pack_format.h"

namespace sabath {

struct PackScan {
  bool whole = true;            // head, index and end are a pack's, and the index matches its name
  std::vector<PackMember> bad;  // do not hold what the index says
  std::uint64_t members = 0, bytes_read = 0;
};

struct PackScanOptions {
  bool quick = false;                           // compares stored bytes by XXH3, and unpacks nothing
  std::function<void(std::uint64_t)> on_bytes;  // may be empty
  std::function<void(const PackMember&, std::span<const std::byte> stored)> on_member;  // right ones; may be empty
};

// `name`: the hash of the index, and the length. In a damaged index it still tries each record that is sane by itself.
[[nodiscard]] PackScan scan_pack(int fd, const std::filesystem::path& file, const Digest& name,
                                 const PackScanOptions& options);

}  // namespace sabath
