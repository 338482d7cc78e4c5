// Pointers that a repository holds instead of large files: pointer files of Git LFS (git-lfs, docs/spec.md), pointer
// files and symlinks of git-annex (its docs, internals and backends). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sabath/recipe.h"
#include "sabath/url.h"

namespace sabath {

constexpr std::size_t lfs_pointer_size_max = 1024;  // bytes: a longer file is none

struct LfsPointer {
  std::string sha256;
  std::uint64_t size_bytes = 0;
};
[[nodiscard]] std::optional<LfsPointer> try_parse_lfs_pointer(std::string_view text);

// The object's URL at the repository's own LFS server; nullopt: a repository by this URL has none that could be asked.
[[nodiscard]] std::optional<Url> try_lfs_url(const std::string& origin, const LfsPointer& pointer);

constexpr std::size_t annex_pointer_size_max = 32 * 1024;  // bytes, by git-annex

// "SHA256E-s123--<hex>.h5": what git-annex calls the content of a file.
struct AnnexKey {
  std::string text;
  std::optional<std::uint64_t> size_bytes;
  Checksums checksum;  // empty: the key says none that is computed here
};
[[nodiscard]] std::optional<AnnexKey> try_parse_annex_key(std::string_view text);
[[nodiscard]] std::optional<AnnexKey> try_parse_annex_pointer(std::string_view text);  // of a whole file
[[nodiscard]] std::optional<AnnexKey> try_parse_annex_link(std::string_view target);   // of a symlink

}  // namespace sabath
