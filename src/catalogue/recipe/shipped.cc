#include "recipe/shipped.h"

#include "base/file.h"

namespace sabath {

std::filesystem::path shipped_recipes(const std::filesystem::path& program) {
  const auto is_directory = [](const std::filesystem::path& path) {
    const auto status = try_stat(path);
    return status && S_ISDIR(status->st_mode);
  };
  if (program.empty()) return {};
  const std::filesystem::path bin = program.parent_path();
  std::filesystem::path installed = (bin / "../share/sabath/shipped").lexically_normal();
  if (is_directory(installed)) return installed;
  if (bin.parent_path().parent_path().filename() != "build") return {};
  std::filesystem::path built = (bin / "../../../recipes").lexically_normal();
  return is_directory(built) ? built : std::filesystem::path();
}

}  // namespace sabath
