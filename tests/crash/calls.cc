#include "calls.h"

#include <sys/syscall.h>

#include <algorithm>

namespace sabath::crash {
namespace {

constexpr Place at(std::int8_t directory, std::int8_t path) { return {directory, path}; }
constexpr Place file(std::int8_t descriptor) { return {descriptor, -1}; }
constexpr Place path(std::int8_t argument) { return {-1, argument}; }

constexpr Call table[] = {
    {SYS_openat, "openat", Kind::make, at(0, 1), {}, 2},
    {SYS_write, "write", Kind::write, file(0), {}, -1, 2},
    {SYS_pwrite64, "pwrite64", Kind::write, file(0), {}, -1, 2, 3},
    {SYS_writev, "writev", Kind::write, file(0)},
    {SYS_pwritev, "pwritev", Kind::write, file(0)},
    {SYS_pwritev2, "pwritev2", Kind::write, file(0)},
    {SYS_ftruncate, "ftruncate", Kind::size, file(0)},
    {SYS_truncate, "truncate", Kind::size, {-1, 0}},
    {SYS_fallocate, "fallocate", Kind::size, file(0)},
    {SYS_fchmod, "fchmod", Kind::mode, file(0)},
    {SYS_fchmodat, "fchmodat", Kind::mode, at(0, 1)},
    {SYS_utimensat, "utimensat", Kind::mode, at(0, 1)},
    {SYS_fchown, "fchown", Kind::mode, file(0)},
    {SYS_fchownat, "fchownat", Kind::mode, at(0, 1)},
    {SYS_setxattr, "setxattr", Kind::mode, path(0)},
    {SYS_lsetxattr, "lsetxattr", Kind::mode, path(0)},
    {SYS_fsetxattr, "fsetxattr", Kind::mode, file(0)},
    {SYS_removexattr, "removexattr", Kind::mode, path(0)},
    {SYS_lremovexattr, "lremovexattr", Kind::mode, path(0)},
    {SYS_fremovexattr, "fremovexattr", Kind::mode, file(0)},
    {SYS_mkdirat, "mkdirat", Kind::mkdir, at(0, 1)},
    {SYS_unlinkat, "unlinkat", Kind::remove, at(0, 1)},
    {SYS_renameat2, "renameat2", Kind::rename, at(0, 1), at(2, 3)},
    {SYS_linkat, "linkat", Kind::link, at(0, 1), at(2, 3)},
    {SYS_symlinkat, "symlinkat", Kind::link, at(1, 2)},
    {SYS_copy_file_range, "copy_file_range", Kind::clone, file(2)},
    {SYS_sendfile, "sendfile", Kind::clone, file(0)},
    {SYS_ioctl, "ioctl", Kind::clone, file(0)},
    {SYS_fsync, "fsync", Kind::sync, file(0)},
    {SYS_fdatasync, "fdatasync", Kind::sync, file(0)},
    {SYS_syncfs, "syncfs", Kind::sync, file(0)},
    {SYS_close, "close", Kind::close, file(0)},
    {SYS_read, "read", Kind::read, file(0)},
    {SYS_pread64, "pread64", Kind::read, file(0)},
    {SYS_getdents64, "getdents64", Kind::list, file(0)},
    {SYS_fstat, "fstat", Kind::stat, file(0)},
    {SYS_statx, "statx", Kind::stat, at(0, 1)},
#ifdef __x86_64__  // newer architectures have the calls above alone
    {SYS_newfstatat, "newfstatat", Kind::stat, at(0, 1)},
    {SYS_renameat, "renameat", Kind::rename, at(0, 1), at(2, 3)},
    {SYS_open, "open", Kind::make, path(0), {}, 1},
    {SYS_creat, "creat", Kind::make, path(0)},
    {SYS_chmod, "chmod", Kind::mode, path(0)},
    {SYS_chown, "chown", Kind::mode, path(0)},
    {SYS_lchown, "lchown", Kind::mode, path(0)},
    {SYS_utime, "utime", Kind::mode, path(0)},
    {SYS_utimes, "utimes", Kind::mode, path(0)},
    {SYS_mkdir, "mkdir", Kind::mkdir, path(0)},
    {SYS_unlink, "unlink", Kind::remove, path(0)},
    {SYS_rmdir, "rmdir", Kind::remove, path(0)},
    {SYS_rename, "rename", Kind::rename, path(0), path(1)},
    {SYS_link, "link", Kind::link, path(0), path(1)},
    {SYS_symlink, "symlink", Kind::link, path(1)},
    {SYS_stat, "stat", Kind::stat, path(0)},
    {SYS_lstat, "lstat", Kind::stat, path(0)},
#endif
};

constexpr std::string_view kind_names[] = {"make", "open",  "write", "size",  "mode", "mkdir", "remove", "rename",
                                           "link", "clone", "sync",  "close", "read", "stat",  "list"};  // by Kind

}  // namespace

std::span<const Call> calls() noexcept { return table; }

const Call* find_call(long number) noexcept {
  const auto* found = std::ranges::find(table, number, &Call::number);
  return found == std::end(table) ? nullptr : found;
}

std::optional<Kind> try_parse_kind(std::string_view name) noexcept {
  const auto* found = std::ranges::find(kind_names, name);
  if (found == std::end(kind_names)) return std::nullopt;
  return static_cast<Kind>(found - std::begin(kind_names));
}

}  // namespace sabath::crash
