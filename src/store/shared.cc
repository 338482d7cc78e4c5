#include "store/shared.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "sabath/error.h"
#include "store/store_format.h"

namespace sabath {
namespace {

constexpr mode_t shared_mode = 02775;
constexpr mode_t top_mode = 03775;  // sticky: who is not its owner replaces neither format nor rooms

// As setxattr(2) takes it: posix_acl_xattr.h of the kernel, version 2, little-endian.
struct AclEntry {
  std::uint16_t tag, permissions;
  std::uint32_t id = 0xFFFF'FFFF;
};
struct Acl {
  std::uint32_t version = 2;
  std::array<AclEntry, 3> entries{{{0x01, 7}, {0x04, 7}, {0x20, 5}}};  // user rwx, group rwx, others r-x
};

bool set_default_acl(const std::filesystem::path& directory) {
  const Acl acl;
  if (::setxattr(directory.c_str(), "system.posix_acl_default", &acl, sizeof acl, 0) == 0) return true;
  if (errno == EOPNOTSUPP || errno == ENOSYS) return false;
  throw_errno("set the default ACL of", directory, errno);
}

// What is made in a room is its owner's alone to write: nothing of the store's ACL is inherited there.
void make_own_room(const std::filesystem::path& room, mode_t mode) {
  if (::mkdir(room.c_str(), mode) == 0) {
    ::removexattr(room.c_str(), "system.posix_acl_default");
    if (::chmod(room.c_str(), mode) != 0) throw_errno("set the mode of", room, errno);
  }
  const auto there = try_lstat(room);
  if (!there) return;  // a store that cannot be written
  if (S_ISDIR(there->st_mode) && there->st_uid == ::geteuid() && (there->st_mode & 0022) == 0) return;
  throw Error(FailureKind::invalid, room.native() + " is not this user's own",
              "its owner, or the store's, must remove it: nothing in it can be believed");
}

// The file `format` comes last: where this was stopped, nobody finds a store that is shared by half.
bool make_shared(const std::filesystem::path& directory, std::optional<gid_t> group) {
  make_directories(directory);
  if (group && ::chown(directory.c_str(), static_cast<uid_t>(-1), *group) != 0) {
    throw_errno("give a group to", directory, errno);
  }
  const bool inherited = set_default_acl(directory);
  if (::chmod(directory.c_str(), top_mode) != 0) throw_errno("set the mode of", directory, errno);
  const Layout layout(directory);
  for (const auto& below : {layout.objects(), layout.manifests(), layout.refs(), layout.verified()}) {
    make_directories(below);
    if (::chmod(below.c_str(), shared_mode) != 0) throw_errno("set the mode of", below, errno);
  }
  write_format(layout, true);
  return inherited;
}

// As empty as a new one, but for what an `init` that was stopped has left.
bool is_unused(const std::filesystem::path& directory) {
  if (!may_become_store(directory) || try_lstat(Layout(directory).format_file())) return false;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_directory() && entry.path().parent_path() != directory) return false;
  }
  return true;
}

}  // namespace

bool make_shared_store(const std::filesystem::path& directory, std::optional<gid_t> group) {
  if (try_stat(directory) && !is_unused(directory)) {
    throw Error(FailureKind::usage, directory.native() + " is not empty",
                "a store is shared from its beginning: name a directory that is empty, or does not exist yet");
  }
  return make_shared(directory, group);
}

Layout layout_for_user(const std::filesystem::path& store) {
  const auto text = try_read_text(Layout(store).format_file(), format_size_max);
  const auto format = nlohmann::json::parse(text.value_or(""), nullptr, false);
  if (!format.is_object() || format.value("shared", nlohmann::json()) != true) return Layout(store);
  Layout own(store, ::geteuid());
  make_own_room(own.partials(), 0700);  // nobody else can open what is on its way, and write to it later
  make_own_room(own.temporaries(), 0700);
  make_own_room(own.views(), 0755);
  return own;
}

}  // namespace sabath
