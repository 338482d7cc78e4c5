// Files of the tree that is packed, written anew. They stay what they are in mode. One thread. Throws Error{storage},
// Error{space}.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sabath {

// False: it has this text already.
bool rewrite_file(const std::filesystem::path& file, std::string_view text);
// Mode 644. Throws Error{invalid} if it is there.
void write_new_file(const std::filesystem::path& file, std::string_view text);
// Each `old` that no letter, digit or any of "._-+" follows.
[[nodiscard]] std::string with_place(std::string_view text, std::string_view old, std::string_view by);

}  // namespace sabath
