// Who reads what a store holds. In a store of several users that is its group, whatever the umask and the own group of
// whoever writes: modes and groups are set, not inherited. In any other store the umask decides.
// docs/store.md, "Several users". A value; copies share what keep_to_group() said. Any thread. Throws Error{storage}.
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
  void make_directories(const std::filesystem::path& directory) const;  // for all members to write into
  // As open_file(), but in a shared store a new file has just this mode.
  [[nodiscard]] Fd create(const std::filesystem::path& file, int flags, mode_t mode) const;
  // The data of a partial, to be written. One for the group alone has the sticky bit, whoever goes on with it.
  [[nodiscard]] Fd open_data(const std::filesystem::path& file) const;
  void mark(int fd) const;  // before bytes come into such a file: what was said by keep_to_group() holds for it
  // Takes the write permissions from a file that is whole. In a shared store all members can read it then.
  void seal(int fd, const std::filesystem::path& name) const;
  // The same for a tree that another program made.
  void give_tree(const std::filesystem::path& directory) const;
  // What is sealed from now on is for the group alone: some of it comes of what not everybody may read.
  void keep_to_group() const { *to_group_ = true; }
  // What is made of an object that is for the group alone is so, too.
  void heed(int fd) const;

 private:
  void give(int fd, mode_t mode, const std::filesystem::path& name) const;
  std::optional<gid_t> group_;
  std::shared_ptr<std::atomic<bool>> to_group_ = std::make_shared<std::atomic<bool>>(false);
};

// Somebody who reads: one user with his groups, all members of a group, or (nothing is set) everybody.
struct Audience {
  std::optional<uid_t> user;
  std::vector<gid_t> groups;
  [[nodiscard]] static Audience of_user(uid_t user);
  // Its own mode or ACL lets him; what leads there is not looked at.
  [[nodiscard]] bool may_read(const std::filesystem::path& file) const;
  // He can open it: all directories that lead there let him through. `canonical`: absolute, without symlinks.
  [[nodiscard]] bool can_read(const std::filesystem::path& canonical) const;
};

// An entry of an ACL as setxattr(2) takes it: posix_acl_xattr.h of the kernel, version 2, little-endian.
struct AclEntry {
  static constexpr std::uint16_t owner = 1, user = 2, owning_group = 4, group = 8, mask = 16, other = 32;  // tags
  std::uint16_t tag, permissions;
  std::uint32_t id = 0xFFFF'FFFF;
};

}  // namespace sabath
