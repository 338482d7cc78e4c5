// Whose site profile is believed, and whose files that it names. It names programs that a run starts: only those who
// may change this program, or are trusted, may have written them. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace sabath {

// Throws Error{access} for a profile that another account could have written. `program`: this program's file.
void refuse_others_profile(const std::filesystem::path& file, const std::vector<std::uint32_t>& trusted_owners,
                           const std::filesystem::path& program);
// The same of a file that a profile names, and that a run sources or starts: a `module_script`, or the program of a
// launcher or container. One without a slash is of PATH, which the user is believed to know.
void refuse_others_program(const std::filesystem::path& file, std::string_view what,
                           const std::vector<std::uint32_t>& trusted_owners, const std::filesystem::path& program);

}  // namespace sabath
