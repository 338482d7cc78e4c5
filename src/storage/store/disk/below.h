// Moves and removes what stands below a store's top. A member of a shared store may put a symlink in the place of any
// directory that the group may write, at any moment: none below the top is followed. Free functions; any thread.
#pragma once

#include <filesystem>

namespace sabath {

// As rename(2), and as rename_unless_there(). Throw Error{storage}.
void rename_below(const std::filesystem::path& top, const std::filesystem::path& from, const std::filesystem::path& to);
[[nodiscard]] bool rename_unless_there_below(const std::filesystem::path& top, const std::filesystem::path& from,
                                             const std::filesystem::path& to);
// True: it was there, and is removed. errno says why not.
bool unlink_below(const std::filesystem::path& top, const std::filesystem::path& file) noexcept;
void remove_tree_below(const std::filesystem::path& top, const std::filesystem::path& path) noexcept;

}  // namespace sabath
