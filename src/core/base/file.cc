#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t write_size_max = std::size_t{1} << 30;  // Linux cuts a single write near 2 GiB
constexpr unsigned tree_depth_max = 256;                      // each level of remove_tree holds a descriptor

// "No space" has two causes that need different remedies: ask the filesystem which, at the nearest ancestor that
// exists.
bool out_of_inodes(std::filesystem::path path) {
  struct statvfs fs {};
  while (::statvfs(path.empty() ? "." : path.c_str(), &fs) != 0) {
    if (path.empty() || path == path.parent_path()) return false;
    path = path.parent_path();
  }
  return fs.f_files != 0 && fs.f_favail == 0;
}

std::string hint_of(int error, bool no_inodes) {
  switch (error) {
    case ENOSPC:
      return no_inodes ? "remove files, or use a filesystem with more inodes" : "free space, or use another filesystem";
    case EDQUOT:
      return "the quota of this user, group or project is used up: free space or ask for more";
    case EFBIG:
      return "raise the file-size limit (ulimit -f), or use a filesystem that takes larger files";
    case EACCES:
    case EPERM:
      return "check who owns it and its permissions";
    case ENAMETOOLONG:
      return "name a shorter path";
    case EROFS:
      return "the filesystem is read-only: use another directory";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files (ulimit -n)";
    case EIO:
      return "the device or the file server reports damage: see the system's log";
    case EXDEV:
      return "what belongs together must be on one filesystem: no mount, no link to another one, inside of a store";
    case ESTALE:
      return "the file server forgot the file: run again";
    default:
      return {};
  }
}

std::span<std::byte> advance(std::span<std::byte> bytes, ssize_t n) {
  return bytes.subspan(static_cast<std::size_t>(n));
}

template <class Write>
void write_loop(std::span<const std::byte> bytes, const std::filesystem::path& name, Write&& write) {
  while (!bytes.empty()) {
    const ssize_t n = write(bytes.data(), std::min(bytes.size(), write_size_max));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno("write", name, errno);
    if (n == 0) throw_errno("write", name, EIO);  // POSIX allows it for no good reason; a loop would hang
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void remove_below(int directory, unsigned depth) noexcept;

// Never follows a symlink: everything is relative to a descriptor.
void remove_entry(int parent, const char* name, unsigned depth) noexcept {
  if (::unlinkat(parent, name, 0) == 0 || (errno != EISDIR && errno != EPERM && errno != EACCES)) return;
  if (depth < tree_depth_max) {
    int fd = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && ::fchmodat(parent, name, 0700, 0) == 0) {
      fd = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    if (fd >= 0) remove_below(fd, depth + 1);
  }
  ::unlinkat(parent, name, AT_REMOVEDIR);
}

void remove_below(int directory, unsigned depth) noexcept {  // owns the descriptor
  ::fchmod(directory, 0700);
  DIR* list = ::fdopendir(directory);
  if (list == nullptr) {
    ::close(directory);
    return;
  }
  while (const dirent* entry = ::readdir(list)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") remove_entry(directory, entry->d_name, depth);
  }
  ::closedir(list);
}

std::vector<std::string> names_in(int directory) noexcept {
  std::vector<std::string> names;
  DIR* list = ::fdopendir(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (list == nullptr) return names;
  while (const dirent* entry = ::readdir(list)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(list);
  return names;
}

int move_directory(int from_parent, const char* from, int to_parent, const char* to, unsigned depth) noexcept {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const Fd source(::openat(from_parent, from, flags));
  struct stat was {
  }, is{};
  if (!source || ::fstat(source.get(), &was) != 0 || depth == tree_depth_max) return EXDEV;
  if (::mkdirat(to_parent, to, 0700) != 0) return errno;
  const Fd target(::openat(to_parent, to, flags));
  if (!target || ::fstat(target.get(), &is) != 0 || is.st_dev != was.st_dev) {  // it is another filesystem
    ::unlinkat(to_parent, to, AT_REMOVEDIR);
    return EXDEV;
  }
  static_cast<void>(::fchown(target.get(), was.st_uid, was.st_gid));  // root's hand moves what a member owns
  ::fchmod(target.get(), was.st_mode & 07777);
  for (const std::string& name : names_in(source.get())) {
    if (::renameat(source.get(), name.c_str(), target.get(), name.c_str()) == 0 || errno == ENOENT) continue;
    const int error =
        errno == EXDEV ? move_directory(source.get(), name.c_str(), target.get(), name.c_str(), depth + 1) : errno;
    if (error != 0) return error;
  }
  const std::array<timespec, 2> times{was.st_atim, was.st_mtim};
  ::futimens(target.get(), times.data());
  return ::unlinkat(from_parent, from, AT_REMOVEDIR) == 0 ? 0 : errno;
}

// A name that no filesystem takes is one of nothing.
bool is_absent(int error) { return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG; }

[[noreturn]] void throw_no_file(const std::filesystem::path& path, std::string_view what) {
  throw Error(FailureKind::invalid, fmt::format("{} is {}, and no plain file", printable(path.native()), what),
              "name a file");
}

std::optional<struct stat> stat_at(const std::filesystem::path& path, int flags) {
  struct stat s {};
  if (::fstatat(AT_FDCWD, path.c_str(), &s, flags) == 0) return s;
  if (is_absent(errno)) return std::nullopt;
  if (errno == ELOOP) throw_no_file(path, "a symlink that leads in a circle");
  throw_errno("stat", path, errno);
}

std::optional<Fd> try_open_text(const std::filesystem::path& path) {
  try {
    return try_open_file(path, O_RDONLY | O_NONBLOCK);  // a FIFO must not hang us
  } catch (const Error&) {
    static_cast<void>(stat_at(path, 0));  // it says so of a circle of symlinks
    throw;
  }
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int Fd::release() noexcept { return std::exchange(fd_, -1); }

void Fd::reset() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Fd open_file(const std::filesystem::path& path, int flags, mode_t mode) {
  int fd;
  do fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) throw_errno((flags & O_CREAT) != 0 ? "create" : "open", path, errno);
  return Fd(fd);
}

std::optional<Fd> try_open_file(const std::filesystem::path& path, int flags) {
  int fd;
  do fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  while (fd < 0 && errno == EINTR);
  if (fd >= 0) return Fd(fd);
  if (is_absent(errno)) return std::nullopt;
  throw_errno("open", path, errno);
}

void close_file(Fd fd, const std::filesystem::path& name) {
  // Network filesystems report a lost write here. EINTR on Linux: the descriptor is gone all the same.
  if (fd && ::close(fd.release()) != 0 && errno != EINTR) throw_errno("close", name, errno);
}

void write_all(int fd, std::span<const std::byte> bytes, const std::filesystem::path& name) {
  write_loop(bytes, name, [fd](const std::byte* data, std::size_t n) { return ::write(fd, data, n); });
}

void write_all_at(int fd, std::span<const std::byte> bytes, std::uint64_t offset, const std::filesystem::path& name) {
  write_loop(bytes, name, [fd, &offset](const std::byte* data, std::size_t n) {
    const ssize_t done = ::pwrite(fd, data, n, static_cast<off_t>(offset));
    if (done > 0) offset += static_cast<std::uint64_t>(done);
    return done;
  });
}

std::size_t read_at(int fd, std::span<std::byte> bytes, std::uint64_t offset, const std::filesystem::path& name) {
  const std::size_t wanted = bytes.size();
  while (!bytes.empty()) {
    const ssize_t n = ::pread(fd, bytes.data(), std::min(bytes.size(), write_size_max),
                              static_cast<off_t>(offset + (wanted - bytes.size())));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno("read", name, errno);
    if (n == 0) break;
    bytes = advance(bytes, n);
  }
  return wanted - bytes.size();
}

void sync_file(int fd, const std::filesystem::path& name) {
  if (::fsync(fd) != 0) throw_errno("fsync", name, errno);
}

void sync_directory(const std::filesystem::path& directory) {
  const Fd fd = open_file(directory, O_RDONLY | O_DIRECTORY);
  // Some network filesystems cannot sync a directory and need not: they say EINVAL.
  if (::fsync(fd.get()) != 0 && errno != EINVAL) throw_errno("fsync", directory, errno);
}

std::optional<std::string> try_read_text(const std::filesystem::path& path, std::uint64_t size_max) {
  const auto fd = try_open_text(path);
  if (!fd) return std::nullopt;
  struct stat s {};
  if (::fstat(fd->get(), &s) != 0) throw_errno("stat", path, errno);
  const auto too_long = [&] {
    return Error(FailureKind::invalid, fmt::format("{} is longer than {} bytes", printable(path.native()), size_max));
  };
  if (S_ISFIFO(s.st_mode)) throw_no_file(path, "a pipe");
  if (S_ISREG(s.st_mode) && static_cast<std::uint64_t>(s.st_size) > size_max) throw too_long();
  std::string text;
  std::uint64_t room = std::max<std::uint64_t>(static_cast<std::uint64_t>(s.st_size), 4096);
  for (;;) {  // files of /proc report a size of 0: read until the end
    const std::size_t begin = text.size();
    text.resize(begin + static_cast<std::size_t>(std::min(room, size_max + 1 - begin)));
    const std::size_t n = read_at(fd->get(), std::as_writable_bytes(std::span(text)).subspan(begin), begin, path);
    text.resize(begin + n);
    if (text.size() > size_max) throw too_long();
    if (n == 0) return text;
  }
}

std::filesystem::path unfinished_name(const std::filesystem::path& path, std::string_view ending) {
  std::uint64_t nonce = 0;
  if (::getrandom(&nonce, sizeof nonce, 0) != sizeof nonce) throw_errno("getrandom for", path, errno);
  return fmt::format("{}.{:016x}.{}", path.native(), nonce, ending);
}

void write_text_atomically(const std::filesystem::path& path, std::string_view text, mode_t mode, bool whatever_umask) {
  const std::filesystem::path temporary = unfinished_name(path, "tmp");
  try {
    Fd fd = open_file(temporary, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (whatever_umask && ::fchmod(fd.get(), mode) != 0) throw_errno("set the mode of", temporary, errno);
    write_all(fd.get(), std::as_bytes(std::span(text)), temporary);
    sync_file(fd.get(), temporary);
    close_file(std::move(fd), temporary);
    rename_path(temporary, path);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_directory(path.has_parent_path() ? path.parent_path() : ".");
}

int rename_at(int from_directory, const char* from, int to_directory, const char* to) noexcept {
  if (::renameat(from_directory, from, to_directory, to) == 0) return 0;
  return errno == EXDEV ? move_directory(from_directory, from, to_directory, to, 0) : errno;
}

void rename_path(const std::filesystem::path& from, const std::filesystem::path& to) {
  const int error = rename_at(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str());
  if (error != 0) throw_errno(fmt::format("rename {} to", printable(from.native())), to, error);
}

bool is_below(const std::filesystem::path& inner, const std::filesystem::path& outer) {
  const auto names = outer.lexically_normal(), of_inner = inner.lexically_normal();
  return !outer.empty() && std::ranges::mismatch(names, of_inner).in1 == names.end();
}

// Not by std::filesystem: it takes an unreadable parent for one that is there, and reports another error.
void make_directories(const std::filesystem::path& path, mode_t mode) {
  const auto is_there = [&] {
    const auto s = try_stat(path);
    if (s && !S_ISDIR(s->st_mode)) throw_errno("make directory", path, ENOTDIR);
    return s.has_value();
  };
  if (path.empty() || is_there()) return;
  if (path.has_parent_path() && path.parent_path() != path) make_directories(path.parent_path(), mode);
  if (::mkdir(path.c_str(), mode) == 0) return;
  const int error = errno;
  if (error != EEXIST || !is_there()) throw_errno("make directory", path, error);  // else another was faster
}

std::optional<struct stat> try_stat(const std::filesystem::path& path) { return stat_at(path, 0); }

std::optional<struct stat> try_lstat(const std::filesystem::path& path) { return stat_at(path, AT_SYMLINK_NOFOLLOW); }

void remove_tree(const std::filesystem::path& path) noexcept { remove_entry(AT_FDCWD, path.c_str(), 0); }
void remove_tree_at(int directory, const std::string& name) noexcept { remove_entry(directory, name.c_str(), 0); }

void throw_errno(std::string_view what, const std::filesystem::path& path, int error) {
  const bool no_inodes = error == ENOSPC && out_of_inodes(path);
  const bool space = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const std::string reason = no_inodes ? "no inodes left" : std::generic_category().message(error);
  const FailureKind kind = error == ENAMETOOLONG ? FailureKind::usage : FailureKind::storage;
  throw Error(space ? FailureKind::space : kind,
              fmt::format("cannot {} {}: {}", what, printable(path.native()), reason), hint_of(error, no_inodes));
}

}  // namespace sabath
