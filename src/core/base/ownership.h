// Whose a file or directory is: who could have written what stands there. Looks at owners and permissions of it and of
// all directories above it, as the kernel does when it opens it. Any thread. Throws Error{storage}.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace sabath {

enum class Ownership {
  shipped,  // it came with the program: who can change it can change the program
  own,      // no other user but root could have written it
  others,   // another user owns it, or may write there; SABATH keeps there what others wrote; or there is no such file
};

// `shipped`: the directory of what came with the program; empty: none. `program`: its file; its owner may own what it
// came with.
[[nodiscard]] Ownership ownership_of(const std::filesystem::path& file, const std::filesystem::path& shipped = {},
                                     const std::filesystem::path& program = {});

// Why another account could have written the file, or may exchange it: of the file itself, or of a directory above it,
// or of where SABATH keeps what others wrote (kept_for_others.h); nullopt: only root and this user can. `program`: its
// owner counts as well, and its group, where that may write the program; what stands above the program itself is not
// looked at, since who writes there can change the program.
[[nodiscard]] std::optional<std::string> why_not_own(const std::filesystem::path& file,
                                                     const std::filesystem::path& program = {});
// The same of one file, or of one directory above it (`is_above`).
[[nodiscard]] std::optional<std::string> why_not_own(const struct stat& status, unsigned user,
                                                     const std::optional<struct stat>& program, bool is_above = false);

// The other user who decides what stands at the path, by all that it leads through, symlinks too: where a directory is
// his, he may have led it to any file. 0: none but root, this user and `trusted`; any_user: several, or anyone. What a
// group may write counts as its owner's.
[[nodiscard]] std::uint32_t other_writer(const std::filesystem::path& file,
                                         std::span<const std::uint32_t> trusted = {});

}  // namespace sabath
