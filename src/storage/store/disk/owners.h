// Owners whose files are trusted where no hash proves them: logs of evidence, refs, aliases, and objects that may be
// linked. In a store of several users any member may put files anywhere, but no member can set another owner.
// docs/store.md, "Several users". Set before a store is used, then constant; any thread.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"

namespace sabath {

class Owners {
 public:
  Owners() : trusted_{::geteuid(), 0} {}  // this user, and root
  void trust(const std::vector<uid_t>& others) { trusted_.insert(trusted_.end(), others.begin(), others.end()); }
  [[nodiscard]] const std::vector<uid_t>& trusted() const noexcept { return trusted_; }
  // This user is root, or one whom the configuration names.
  [[nodiscard]] bool is_trusted_by_all() const { return std::ranges::count(trusted_, ::geteuid()) > 1; }
  [[nodiscard]] bool trusts(const struct stat& file) const {
    return std::ranges::find(trusted_, file.st_uid) != trusted_.end();
  }

 private:
  std::vector<uid_t> trusted_;
};

// Opens a regular file to read, if a trusted user owns it; does not follow a symlink at its name.
[[nodiscard]] std::optional<Fd> try_open_trusted(const Owners& owners, const std::filesystem::path& file);

// The rooms with notes that this user may believe: `own`; of a store of several users, where that is ROOM.<uid>, also
// the ROOM of an earlier SABATH, which was for all, and those of trusted owners.
[[nodiscard]] std::vector<std::filesystem::path> believed_rooms(const std::filesystem::path& own, const Owners& owners);

// Whether all of a tree, or a file, is this user's, and no other user may write into its directories and files.
[[nodiscard]] bool belongs_to(const std::filesystem::path& tree, uid_t user);

// The member whose room ROOM.<uid> this is; nullopt: this user, or it is for all.
[[nodiscard]] std::optional<unsigned> other_of(const std::filesystem::path& room);
// Another member's view, note or link goes by root's hand alone, where the filesystem lets root write.
[[nodiscard]] bool may_remove_from(const std::filesystem::path& room);

// "user alice", "users alice and 64001", for people: by name where this machine knows it.
[[nodiscard]] std::string users_text(const std::set<unsigned>& users);

// Only the owner appends to it, even where the group may write in its directory.
inline constexpr mode_t own_file_mode = 0644;
inline constexpr mode_t group_file_mode = 0664;  // any member may set its times; less the umask, in a store of one user

}  // namespace sabath
