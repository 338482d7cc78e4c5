#include "store/disk/listing.h"

#include <dirent.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "base/file.h"
#include "store/disk/layout.h"

namespace sabath {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

std::vector<std::filesystem::path> list_directory(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    found.push_back(it->path());
  }
  if (error && error.value() != ENOENT && error.value() != ENOTDIR) throw_errno("list", directory, error.value());
  return found;
}

bool is_real_directory(const std::filesystem::path& path) {
  const auto s = try_lstat(path);
  return s && S_ISDIR(s->st_mode);
}

bool is_open_directory(const std::filesystem::path& directory) {
  return is_real_directory(directory) && ::access(directory.c_str(), R_OK | X_OK) == 0;
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

void for_each_name(const std::filesystem::path& directory,
                   const std::function<void(std::string_view name, unsigned char type)>& visit) {
  const std::unique_ptr<DIR, CloseDirectory> open(::opendir(directory.c_str()));
  if (!open) {
    if (errno == ENOENT || errno == ENOTDIR) return;
    throw_errno("list", directory, errno);
  }
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name(static_cast<const char*>(entry->d_name));
    if (name == "." || name == "..") continue;
    auto type = entry->d_type;
    if (type == DT_UNKNOWN) {
      const auto s = try_lstat(directory / name);
      if (!s) continue;
      type = IFTODT(s->st_mode);
    }
    visit(name, type);
  }
  if (errno != 0) throw_errno("list", directory, errno);
}

void for_each_fanned(const std::filesystem::path& directory,
                     const std::function<void(const std::string& fan, const std::string& name,
                                              const std::filesystem::path& path)>& visit) {
  for_each_name(directory, [&](std::string_view fan_name, unsigned char fan_type) {
    if (fan_type != DT_DIR || !is_fan_name(fan_name)) return;
    const std::string fan(fan_name);
    for_each_name(directory / fan, [&](std::string_view name, unsigned char type) {
      if (type == DT_REG) visit(fan, std::string(name), directory / fan / name);
    });
  });
}

}  // namespace sabath
