// The headers of an uncompressed tar, one member after the other, without the content between them.
//
// Known: v7, ustar (POSIX.1-1988), pax (POSIX.1-2001: path, linkpath, size), GNU long names, base-256 numbers. Sparse
// members, devices and FIFOs are no files that a range of the archive holds: Error{invalid}. Says nothing about names;
// archive_names.h does. Throws Error{invalid}, and what `read` throws. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace sabath {

struct TarMember {
  enum class Kind : std::uint8_t { file, directory, symlink, hard_link };
  Kind kind = Kind::file;
  bool executable = false;
  std::string name, target;  // as they stand there
  std::uint64_t offset = 0;  // of a file's content
  std::uint64_t size_bytes = 0;
  std::uint64_t next = 0;  // where the header after it begins
};

// Reads `length` bytes at an offset; they lie inside the archive. The span is valid until the next call.
using TarRead = std::function<std::span<const std::byte>(std::uint64_t offset, std::size_t length)>;

// The member whose headers begin at `offset` of the archive `name`, which is `size_bytes` long; nullopt: it ends there.
[[nodiscard]] std::optional<TarMember> read_tar_member(const std::string& name, const TarRead& read,
                                                       std::uint64_t offset, std::uint64_t size_bytes);

// The first bytes of an archive that is no plain tar: what it is ("gzip"), nullptr if nothing says so.
[[nodiscard]] const char* packed_as(std::span<const std::byte> first) noexcept;

// A hint for an archive that cannot be read by parts.
[[nodiscard]] std::string fetch_it_whole();

inline constexpr std::size_t tar_block_size = 512;

}  // namespace sabath
