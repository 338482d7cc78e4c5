#include "base/asked_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/file.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {

void refuse_directory(const std::filesystem::path& file) {
  if (file.empty()) return;
  if (const auto status = try_stat(file); !status || !S_ISDIR(status->st_mode)) return;
  throw Error(FailureKind::usage, fmt::format("{} is a directory", printable(file.native(), 1000)), "name a file");
}

}  // namespace sabath
