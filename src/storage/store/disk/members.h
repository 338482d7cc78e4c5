// Members decides who may read a store's files. In a store of several users it sets modes and the store's group, and
// ignores the writer's umask and group. In any other store the umask decides. docs/store.md, "Several users". A value;
// copies share the state that keep_to_group() sets. Any thread. Throws Error{storage}.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "base/file.h"

namespace sabath {

class Members {
 public:
  Members() = default;  // of a store of one user
  explicit Members(gid_t group) : group_(group) {}

  [[nodiscard]] std::optional<gid_t> group() const { return group_; }
  // All members may write into them; but only this user into his own room, ROOM.<uid>, and what is below it.
  void make_directories(const std::filesystem::path& directory) const;
  // As open_file(), but in a shared store a new file has exactly this mode.
  [[nodiscard]] Fd create(const std::filesystem::path& file, int flags, mode_t mode) const;
  // Opens the data of a partial for writing. Data for the group alone has the sticky bit, which later writers heed.
  [[nodiscard]] Fd open_data(const std::filesystem::path& file) const;
  void mark(int fd) const;  // before bytes come into such a file: applies keep_to_group() to it
  // Removes the write permissions of a complete file. In a shared store all members can read it then.
  void seal(int fd, const std::filesystem::path& name) const;
  // The same for a tree that another program made.
  void give_tree(const std::filesystem::path& directory) const;
  // Files sealed from now on are for the group alone: some of their bytes come from a source that others may not read.
  void keep_to_group() const { *to_group_ = true; }
  // Calls keep_to_group() if `fd` is for the group alone: files made from it are, too.
  void heed(int fd) const;

 private:
  void give(int fd, mode_t mode, const std::filesystem::path& name) const;
  std::optional<gid_t> group_;
  std::shared_ptr<std::atomic<bool>> to_group_ = std::make_shared<std::atomic<bool>>(false);
};

// A set of readers: one user with his groups, all members of a group, or (nothing is set) all users.
struct Audience {
  std::optional<uid_t> user;
  std::vector<gid_t> groups;
  [[nodiscard]] static Audience of_user(uid_t user);
  // The file's mode or ACL lets the audience read; the directories above are not looked at.
  [[nodiscard]] bool may_read(const std::filesystem::path& file) const;
  // The audience can open it: all directories above let it through, too. `canonical`: absolute, without symlinks.
  [[nodiscard]] bool can_read(const std::filesystem::path& canonical) const;
};

// An entry of an ACL as setxattr(2) takes it: posix_acl_xattr.h of the kernel, version 2, little-endian.
struct AclEntry {
  static constexpr std::uint16_t owner = 1, user = 2, owning_group = 4, group = 8, mask = 16, other = 32;  // tags
  std::uint16_t tag, permissions;
  std::uint32_t id = 0xFFFF'FFFF;
};

}  // namespace sabath
