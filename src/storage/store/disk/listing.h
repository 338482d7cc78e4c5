// Directory listings, complete or an error: a caller that decides what may go must not take a broken-off listing for a
// complete one. Free functions; any thread. Throws Error{storage}.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

// Lists this directory alone; a missing directory is empty.
[[nodiscard]] std::vector<std::filesystem::path> list_directory(const std::filesystem::path& directory);
// A directory, and no symlink to one.
[[nodiscard]] bool is_real_directory(const std::filesystem::path& path);
// A real directory that this user may list and enter: a member of a shared store may have put something else there.
[[nodiscard]] bool is_open_directory(const std::filesystem::path& directory);
// Visits everything below that is no directory; does not follow symlinks.
void for_each_file_below(const std::filesystem::path& directory,
                         const std::function<void(const std::filesystem::path&)>& visit);

// Visits the names of a directory with their types (DT_DIR, DT_LNK, DT_REG): readdir(3) knows a symlink without a stat
// of each. A missing directory is empty.
void for_each_name(const std::filesystem::path& directory,
                   const std::function<void(std::string_view name, unsigned char type)>& visit);
// Visits directory/XX/REST, where REST is a regular file, as (XX, REST, path).
void for_each_fanned(const std::filesystem::path& directory,
                     const std::function<void(const std::string& fan, const std::string& name,
                                              const std::filesystem::path& path)>& visit);

}  // namespace sabath
