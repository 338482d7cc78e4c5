// What stands in a directory, whole or not at all: who decides by it what may go must not take a listing that broke off
// for the end. Free functions; any thread. Throws Error{storage}.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

namespace sabath {

// Of this directory alone; one that is not there is empty.
[[nodiscard]] std::vector<std::filesystem::path> list_directory(const std::filesystem::path& directory);
// Everything below that is no directory; symlinks are not followed.
void for_each_file_below(const std::filesystem::path& directory,
                         const std::function<void(const std::filesystem::path&)>& visit);

}  // namespace sabath
