// What stands in a directory, whole or not at all: who decides by it what may go must not take a listing that broke off
// for the end. Free functions; any thread. Throws Error{storage}.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

// Of this directory alone; one that is not there is empty.
[[nodiscard]] std::vector<std::filesystem::path> list_directory(const std::filesystem::path& directory);
// Everything below that is no directory; symlinks are not followed.
void for_each_file_below(const std::filesystem::path& directory,
                         const std::function<void(const std::filesystem::path&)>& visit);

// The names of a directory with what they are (DT_DIR, DT_LNK, DT_REG): readdir(3) says what is a symlink without a
// stat of each. One that is not there is empty.
void for_each_name(const std::filesystem::path& directory,
                   const std::function<void(std::string_view name, unsigned char type)>& visit);
// Regular names directory/XX/REST as (XX, REST, path).
void for_each_fanned(const std::filesystem::path& directory,
                     const std::function<void(const std::string& fan, const std::string& name,
                                              const std::filesystem::path& path)>& visit);

}  // namespace sabath
