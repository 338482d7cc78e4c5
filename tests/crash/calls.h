// The system calls that read or change files, as a tracer sees them: which kind each is and where its paths and
// descriptors stand among its arguments. A table; any thread; throws nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sabath::crash {

enum class Kind : std::uint8_t {
  make,    // open(2) that may create or cut a file
  open,    // open(2) that does neither
  write,   // bytes into a file
  size,    // ftruncate, fallocate
  mode,    // chmod, utimes, chown, setxattr
  mkdir,   //
  remove,  // unlink, rmdir
  rename,  //
  link,    // link, symlink
  clone,   // copy_file_range, FICLONE
  sync,    // fsync, fdatasync, syncfs
  close,   // where it is made to fail, the descriptor stays
  read,    //
  stat,    //
  list,    // getdents64
};

// The arguments by which a call names a file: a descriptor, a path (relative to the working directory), or both.
struct Place {
  std::int8_t directory = -1;  // argument; -1: none, the working directory
  std::int8_t path = -1;       // argument; -1: `directory` is the file itself
};

struct Call {
  long number;
  std::string_view name;
  Kind kind;
  Place first;
  Place second{};           // rename, link: the new name
  std::int8_t flags = -1;   // open: which argument; -1: it always makes
  std::int8_t length = -1;  // write: which argument says how many bytes
  std::int8_t offset = -1;  // pwrite: where
};

[[nodiscard]] std::span<const Call> calls() noexcept;
[[nodiscard]] const Call* find_call(long number) noexcept;
[[nodiscard]] std::optional<Kind> try_parse_kind(std::string_view name) noexcept;

}  // namespace sabath::crash
