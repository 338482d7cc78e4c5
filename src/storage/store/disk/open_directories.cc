#include "store/disk/open_directories.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

namespace sabath {
namespace {

bool inside(std::string_view path, std::string_view directory) {
  return directory.empty() ||
         (path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/'));
}

}  // namespace

OpenDirectories::OpenDirectories(const std::filesystem::path& root) : root_(root) {
  open_.push_back({"", open_file(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)});
}

std::optional<int> OpenDirectories::try_at(std::string_view relative) {
  while (!inside(relative, open_.back().relative)) open_.pop_back();
  while (open_.back().relative.size() < relative.size()) {
    const std::size_t begin = open_.back().relative.empty() ? 0 : open_.back().relative.size() + 1;
    const std::size_t end = std::min(relative.find('/', begin), relative.size());
    const std::string name(relative.substr(begin, end - begin));
    Fd fd(::openat(open_.back().fd.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd) {
      if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return std::nullopt;
      throw_errno("open", root_ / relative.substr(0, end), errno);
    }
    open_.push_back({std::string(relative.substr(0, end)), std::move(fd)});
  }
  return open_.back().fd.get();
}

}  // namespace sabath
