// Pointer files of Git LFS (git-lfs, docs/spec.md): what stands in a repository in place of a large file. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sabath/url.h"

namespace sabath {

constexpr std::size_t lfs_pointer_size_max = 1024;  // bytes: a longer file is none

struct LfsPointer {
  std::string sha256;
  std::uint64_t size_bytes = 0;
};
[[nodiscard]] std::optional<LfsPointer> try_parse_lfs_pointer(std::string_view text);

// Where the repository's own LFS server has the object; nullopt: a repository by this URL has none that could be asked.
[[nodiscard]] std::optional<Url> try_lfs_url(const std::string& origin, const LfsPointer& pointer);

}  // namespace sabath
