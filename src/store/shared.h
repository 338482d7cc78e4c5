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

// What a store's names are for this user: in a shared one nobody else can open what is on its way, which stands in
// rooms that are made here.
[[nodiscard]] Layout layout_for_user(const std::filesystem::path& store);

// Whether these bytes may become the store's: whoever reads a shared one could read them where they are, and so could
// the owner of one of a single user. (What not everybody may read is kept to the group from now on.)
[[nodiscard]] bool admits(const Layout& store, const std::filesystem::path& file);

// A shared store as another member sees it, without becoming one.
struct Unreadable {
  std::uint64_t looked_at = 0, files = 0;  // of these, so many cannot be read or written to as they should be
  std::filesystem::path first;
  uid_t owner = 0;  // of the first
};
[[nodiscard]] Unreadable look_as_member(Store& store, std::uint64_t entries_max);

}  // namespace sabath
