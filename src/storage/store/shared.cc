#include "store/shared.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/file.h"
#include "sabath/error.h"
#include "store/state.h"
#include "store/store_format.h"

namespace sabath {
namespace {

constexpr mode_t shared_mode = 02775;
constexpr mode_t top_mode = 03775;  // sticky: only the owner replaces format and own directories

struct Acl {
  std::uint32_t version = 2;
  std::array<AclEntry, 3> entries{{{AclEntry::owner, 7}, {AclEntry::owning_group, 7}, {AclEntry::other, 5}}};
};

// For files that other programs make there. The store sets the modes of its own files, and needs no ACL.
void set_default_acl(const std::filesystem::path& directory) {
  const Acl acl;
  if (::setxattr(directory.c_str(), "system.posix_acl_default", &acl, sizeof acl, 0) == 0) return;
  if (errno == EOPNOTSUPP || errno == ENOSYS) return;
  throw_errno("set the default ACL of", directory, errno);
}

// Only its owner may write files in an own directory: they inherit nothing of the store's ACL.
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

// The file `format` comes last: if this is stopped, no process finds a half-shared store.
void make_shared(const std::filesystem::path& directory, std::optional<gid_t> group) {
  make_directories(directory);
  if (group && ::chown(directory.c_str(), static_cast<uid_t>(-1), *group) != 0) {
    throw_errno("give a group to", directory, errno);
  }
  set_default_acl(directory);
  if (::chmod(directory.c_str(), top_mode) != 0) throw_errno("set the mode of", directory, errno);
  const Layout layout(directory);
  for (const auto& below : {layout.objects(), layout.manifests()}) {
    make_directories(below);
    if (::chmod(below.c_str(), shared_mode) != 0) throw_errno("set the mode of", below, errno);
  }
  write_format(layout, true);
}

// As empty as a new one, but for leftovers of an interrupted `init`.
bool is_unused(const std::filesystem::path& directory) {
  if (!may_become_store(directory) || try_lstat(Layout(directory).format_file())) return false;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_directory() && entry.path().parent_path() != directory) return false;
  }
  return true;
}

}  // namespace

void make_shared_store(const std::filesystem::path& directory, std::optional<gid_t> group) {
  if (try_stat(directory) && !is_unused(directory)) {
    throw Error(FailureKind::usage, directory.native() + " is not empty",
                "a store is shared from its beginning: name a directory that is empty, or does not exist yet");
  }
  make_shared(directory, group);
}

Layout layout_for_user(const std::filesystem::path& store) {
  const auto text = try_read_text(Layout(store).format_file(), format_size_max);
  const auto format = nlohmann::json::parse(text.value_or(""), nullptr, false);
  if (!format.is_object() || format.value("shared", nlohmann::json()) != true) return Layout(store);
  const auto top = try_stat(store);
  Layout own(store, ::geteuid(), top ? Members(top->st_gid) : Members());
  for (const Room& room : rooms_of_store()) {
    if (room.own_mode != 0) make_own_room(own.room(room), room.own_mode);
  }
  return own;
}

bool admits(const Layout& store, const std::filesystem::path& file) {
  const auto top = try_stat(store.root());
  const auto group = store.members().group();
  if (!top || (!group && top->st_uid == ::geteuid())) return true;  // opening it asks the same
  std::error_code error;
  const auto canonical = std::filesystem::canonical(file, error);
  if (error) return false;
  if (!group) return Audience::of_user(top->st_uid).can_read(canonical);
  if (!Audience{{}, {*group}}.can_read(canonical)) return false;
  if ((top->st_mode & S_IXOTH) != 0 && !Audience{}.can_read(canonical)) store.members().keep_to_group();
  return true;
}

namespace {

// And whether one member owns it.
std::vector<std::pair<std::filesystem::path, bool>> rooms_that_members_read(const Layout& store) {
  std::vector<std::pair<std::filesystem::path, bool>> rooms{{store.leases(), false}, {store.reservations(), false}};
  for (const Room& room : rooms_of_store()) {
    if (room.holds == Room::Holds::content) rooms.emplace_back(store.room(room), false);
    if (room.holds != Room::Holds::notes && room.holds != Room::Holds::records) continue;
    for (const auto& each : rooms_of_all(store, store.room(room))) rooms.emplace_back(each, true);
  }
  return rooms;
}

}  // namespace

Unreadable look_as_member(Store& of, std::uint64_t entries_max) {
  const Layout& store = of.state().layout;
  Unreadable result;
  const auto group = store.members().group();
  if (!group) return result;
  const Audience member{{}, {*group}};
  const auto look_at = [&](const std::filesystem::path& path, bool own) {
    const auto s = try_lstat(path);
    if (!s) return;
    ++result.looked_at;
    std::error_code error;
    const auto target = S_ISLNK(s->st_mode) ? std::filesystem::canonical(path, error) : path;
    const mode_t access = own ? 0050 : 0070;  // into a member's own room only he writes
    const bool open = S_ISDIR(s->st_mode)
                          ? s->st_gid == *group && (s->st_mode & access) == access
                          : !error && (target == path ? member.may_read(path) : member.can_read(target));
    if (open) return;
    if (result.files++ > 0) return;
    result.first = path;
    result.owner = s->st_uid;
  };
  for (const auto& [room, own] : rooms_that_members_read(store)) {
    look_at(room, own);
    std::error_code error;
    std::filesystem::recursive_directory_iterator it(room, std::filesystem::directory_options::skip_permission_denied,
                                                     error);
    for (const std::filesystem::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
      if (result.looked_at >= entries_max) return result;
      look_at(it->path(), own);
    }
  }
  return result;
}

}  // namespace sabath
