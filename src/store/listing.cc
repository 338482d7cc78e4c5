#include "store/listing.h"

#include <cerrno>
#include <system_error>

#include "base/file.h"

namespace sabath {

std::vector<std::filesystem::path> list_directory(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    found.push_back(it->path());
  }
  if (error && error.value() != ENOENT && error.value() != ENOTDIR) throw_errno("list", directory, error.value());
  return found;
}

void for_each_file_below(const std::filesystem::path& directory,
                         const std::function<void(const std::filesystem::path&)>& visit) {
  for (const auto& path : list_directory(directory)) {
    const auto s = try_lstat(path);
    if (s && S_ISDIR(s->st_mode)) {
      for_each_file_below(path, visit);
    } else if (s) {
      visit(path);
    }
  }
}

}  // namespace sabath
