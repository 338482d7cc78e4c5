// A store of several users: docs/store.md, "Several users". Free functions; any thread. Throws Error{storage},
// Error{invalid}.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>

#include "store/disk/layout.h"
#include "store/store.h"

namespace sabath {

// Makes `directory`, absent or empty, a store that the members of its group share: set-group-id, writable for the
// group, and with a default ACL where the filesystem has such.
void make_shared_store(const std::filesystem::path& directory, std::optional<gid_t> group);

// The layout of a store for this user. In a shared store it makes this user's own directories, where no other user can
// open his unfinished files.
[[nodiscard]] Layout layout_for_user(const std::filesystem::path& store);

// Whether the store may take this file's bytes: all readers of a shared store, or the owner of a single user's, can
// read them where they are. (If other users cannot read them, new files are kept to the group from now on.)
[[nodiscard]] bool admits(const Layout& store, const std::filesystem::path& file);

// A shared store as another member sees it, without switching to that user.
struct Unreadable {
  std::uint64_t looked_at = 0, files = 0;  // files: those that cannot be read or written to as they should be
  std::filesystem::path first;
  uid_t owner = 0;  // of the first
};
[[nodiscard]] Unreadable look_as_member(Store& store, std::uint64_t entries_max);

}  // namespace sabath
