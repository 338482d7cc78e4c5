// A store of several users: docs/store.md, "Several users". Free functions; any thread. Throws Error{storage},
// Error{invalid}.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "store/layout.h"

namespace sabath {

// Makes `directory`, absent or empty, a store that the members of its group share: set-group-id, writable for the
// group, and what is made below it gets the same from a default ACL, whatever the umask. False: this filesystem has no
// ACLs, and every user needs a umask of 002.
bool make_shared_store(const std::filesystem::path& directory, std::optional<gid_t> group);

// What a store's names are for this user: in a shared one nobody else can open what is on its way, which stands in
// rooms that are made here.
[[nodiscard]] Layout layout_for_user(const std::filesystem::path& store);

}  // namespace sabath
