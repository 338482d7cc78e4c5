#include "store/disk/members.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr mode_t shared_directory_mode = 02775, own_directory_mode = 02755;
constexpr unsigned may_read_bit = 4, may_enter_bit = 1;
constexpr std::size_t acl_bytes_max = 4096;
constexpr std::size_t acl_head_bytes = 4;  // the version

std::vector<AclEntry> acl_of(const fs::path& file) {
  std::array<char, acl_bytes_max> bytes{};
  const ssize_t n = ::lgetxattr(file.c_str(), "system.posix_acl_access", bytes.data(), bytes.size());
  if (n < static_cast<ssize_t>(acl_head_bytes)) return {};  // its mode says all
  std::vector<AclEntry> entries((static_cast<std::size_t>(n) - acl_head_bytes) / sizeof(AclEntry));
  std::memcpy(entries.data(), bytes.data() + acl_head_bytes, entries.size() * sizeof(AclEntry));
  return entries;
}

// r, w and x as the kernel decides, acl(5); none if the file cannot be looked at.
unsigned permissions_of(const Audience& audience, const fs::path& file) {
  struct stat s {};
  if (::lstat(file.c_str(), &s) != 0) return 0;
  const auto in = [&](gid_t group) { return std::ranges::find(audience.groups, group) != audience.groups.end(); };
  if (audience.user == s.st_uid) return s.st_mode >> 6 & 7U;
  const auto acl = acl_of(file);
  if (acl.empty()) return in(s.st_gid) ? s.st_mode >> 3 & 7U : s.st_mode & 7U;
  unsigned mask = 7, granted = 0;
  bool matched = false;
  for (const AclEntry& entry : acl) {
    if (entry.tag == AclEntry::mask) mask = entry.permissions;
  }
  for (const AclEntry& entry : acl) {
    if (entry.tag == AclEntry::user && audience.user == entry.id) return entry.permissions & mask;
    const bool own = entry.tag == AclEntry::owning_group && in(s.st_gid);
    if (!own && !(entry.tag == AclEntry::group && in(entry.id))) continue;
    matched = true;
    granted |= entry.permissions;
  }
  return matched ? granted & mask : s.st_mode & 7U;
}

}  // namespace

void Members::make_directories(const fs::path& directory) const {
  if (!group_ || try_stat(directory)) return sabath::make_directories(directory);
  if (directory.has_parent_path() && directory.parent_path() != directory) make_directories(directory.parent_path());
  const auto above = try_stat(directory.parent_path());
  const bool in_own = above && (above->st_mode & 07777) == own_directory_mode;
  const bool own = in_own || directory.extension() == fmt::format(".{}", ::geteuid());
  const mode_t mode = own ? own_directory_mode : shared_directory_mode;
  if (::mkdir(directory.c_str(), mode & 0777) != 0) return sabath::make_directories(directory);
  static_cast<void>(::chown(directory.c_str(), static_cast<uid_t>(-1), *group_));  // mostly inherited
  if (::chmod(directory.c_str(), mode) != 0) throw_errno("set the mode of", directory, errno);
}

Fd Members::create(const fs::path& file, int flags, mode_t mode) const {
  Fd fd = open_file(file, flags, mode);
  struct stat s {};
  const bool ours = group_ && ::fstat(fd.get(), &s) == 0 && s.st_uid == ::geteuid();
  if (ours && (s.st_gid != *group_ || (s.st_mode & 07777) != mode)) give(fd.get(), mode, file);
  return fd;
}

Fd Members::open_data(const fs::path& file) const {
  const auto there = try_lstat(file);
  if (there && (there->st_mode & S_IWUSR) == 0) {  // sealed by a publisher that died before it published it
    const bool ours_alone = group_ && (there->st_mode & S_IROTH) == 0;
    ::chmod(file.c_str(), (there->st_mode & 07777) | S_IWUSR | (ours_alone ? S_ISVTX : 0));
  }
  return open_file(file, O_RDWR | O_CREAT | O_NOFOLLOW);
}

void Members::mark(int fd) const {
  struct stat s {};
  if (!group_ || !*to_group_ || ::fstat(fd, &s) != 0 || (s.st_mode & S_ISVTX) != 0) return;
  ::fchmod(fd, (s.st_mode & 07777) | S_ISVTX);
}

void Members::give(int fd, mode_t mode, const fs::path& name) const {
  const bool given = ::fchown(fd, static_cast<uid_t>(-1), *group_) == 0;
  if (!given && (mode & 0004) == 0) throw_errno("give the store's group to", name, errno);
  if (::fchmod(fd, mode) != 0) throw_errno("set the mode of", name, errno);
}

void Members::seal(int fd, const fs::path& name) const {
  struct stat s {};
  if (::fstat(fd, &s) != 0) throw_errno("stat", name, errno);
  if (group_) {
    if ((s.st_mode & S_ISVTX) != 0) keep_to_group();  // another process or rank marked it
    const mode_t mode = (s.st_mode & S_IXUSR) != 0 ? 0555 : 0444;
    give(fd, *to_group_ ? mode & ~mode_t{07} : mode, name);
  } else if (::fchmod(fd, s.st_mode & 0555) != 0) {
    throw_errno("make read-only", name, errno);
  }
}

void Members::give_tree(const fs::path& directory) const {
  if (!group_) return;
  const mode_t hidden = *to_group_ ? 07 : 0;
  const auto give_one = [&](const fs::path& path) {
    const Fd fd = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    struct stat s {};
    if (::fstat(fd.get(), &s) != 0) throw_errno("stat", path, errno);
    const mode_t more = S_ISDIR(s.st_mode) ? 0755 : 0444;
    give(fd.get(), ((s.st_mode & 0755) | more) & ~hidden, path);
  };
  give_one(directory);
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (!entry.is_symlink()) give_one(entry.path());
  }
}

void Members::heed(int fd) const {
  struct stat s {};
  if (group_ && ::fstat(fd, &s) == 0 && (s.st_mode & S_IROTH) == 0) keep_to_group();
}

Audience Audience::of_user(uid_t user) {
  Audience audience{user, {}};
  std::array<char, 16384> room{};
  struct passwd entry {};
  struct passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, room.data(), room.size(), &found) != 0 || found == nullptr) return audience;
  int count = 1024;
  audience.groups.resize(static_cast<std::size_t>(count));
  ::getgrouplist(found->pw_name, found->pw_gid, audience.groups.data(), &count);
  audience.groups.resize(static_cast<std::size_t>(std::clamp(count, 0, 1024)));
  return audience;
}

bool Audience::may_read(const fs::path& file) const {
  return user == uid_t{0} || (permissions_of(*this, file) & may_read_bit) != 0;
}

bool Audience::can_read(const fs::path& canonical) const {
  if (user == uid_t{0}) return true;
  for (fs::path at = canonical.parent_path();; at = at.parent_path()) {
    if ((permissions_of(*this, at) & may_enter_bit) == 0) return false;
    if (at == at.parent_path()) return may_read(canonical);
  }
}

}  // namespace sabath
