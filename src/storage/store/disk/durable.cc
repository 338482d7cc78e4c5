#include "store/disk/durable.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "sabath/error.h"

namespace sabath {
namespace {

// Filesystems whose syncfs(2) puts data, names and metadata on the device. Others may not: FUSE, for one, sends the
// pages to its server, but no fsync.
constexpr std::array<std::uint32_t, 4> synced_whole{0xEF53 /* ext4 */, 0x58465342 /* XFS */, 0x9123683E /* btrfs */,
                                                    0x01021994 /* tmpfs */};

bool kernel_reports_sync_errors() {  // syncfs(2): since Linux 5.8
  struct utsname name {};
  int major = 0, minor = 0;
  return ::uname(&name) == 0 && std::sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
         (major > 5 || (major == 5 && minor >= 8));
}

bool syncs_whole(int fd) {
  struct statfs fs {};
  return ::fstatfs(fd, &fs) == 0 && kernel_reports_sync_errors() &&
         std::ranges::find(synced_whole, static_cast<std::uint32_t>(fs.f_type)) != synced_whole.end();
}

}  // namespace

SyncGroup::SyncGroup(const std::filesystem::path& directory)
    : directory_(directory), fd_(open_file(directory, O_RDONLY | O_DIRECTORY)), whole_(syncs_whole(fd_.get())) {}

void SyncGroup::sync() {
  const std::lock_guard lock(mutex_);
  if (!failed_ && ::syncfs(fd_.get()) == 0) return;
  const int error = failed_ ? EIO : errno;
  if (error == ENOSYS) return ::sync();  // a sandbox without syncfs(2): all that is written, and no error is reported
  failed_ = true;
  throw_errno("sync the filesystem of", directory_, error);
}

bool has_no_such_link(int error) noexcept {
  return error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EMLINK || error == EXDEV;
}

bool rename_unless_there(const std::filesystem::path& from, const std::filesystem::path& to) {
  return rename_unless_there_at(AT_FDCWD, from, AT_FDCWD, to);
}

bool rename_unless_there_at(int from_directory, const std::filesystem::path& from, int to_directory,
                            const std::filesystem::path& to) {
  if (::renameat2(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  if (errno == EXDEV) {  // of a directory: its place is made by mkdir(2), which never replaces either
    const int error = rename_at(from_directory, from.c_str(), to_directory, to.c_str());
    if (error != 0 && error != EEXIST) throw_errno("publish as", to, error);
    return error == 0;
  }
  if (errno != EINVAL && errno != ENOSYS) throw_errno("publish as", to, errno);
  // This filesystem has no such rename (NFS): a hard link never replaces either.
  if (::linkat(from_directory, from.c_str(), to_directory, to.c_str(), 0) == 0) {
    ::unlinkat(from_directory, from.c_str(), 0);
    return true;
  }
  if (errno == EEXIST) return false;
  if (!has_no_such_link(errno)) throw_errno("publish as", to, errno);
  // No such hard links either: replacing is harmless, as both have the same content.
  struct stat there {};
  if (::fstatat(to_directory, to.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0) return false;
  if (const int error = rename_at(from_directory, from.c_str(), to_directory, to.c_str()); error != 0)
    throw_errno("rename to", to, error);
  return true;
}

Move publish_open_file(int fd, const std::filesystem::path& from, const std::filesystem::path& to) {
  const std::string self = fmt::format("/proc/self/fd/{}", fd);  // open(2), O_TMPFILE: gives an open file a name
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) == 0) return Move::done;
  if (errno == EEXIST) return Move::occupied;
  // No /proc, no hard links, or another user's file: fall back to the name, checked as late as possible.
  struct stat ours {};
  if (::fstat(fd, &ours) != 0) throw_errno("stat", from, errno);
  const auto named = try_lstat(from);
  if (!named || named->st_ino != ours.st_ino) return Move::vanished;
  return rename_unless_there(from, to) ? Move::done : Move::occupied;
}

}  // namespace sabath
