#include "base/working_directory.h"

#include <fmt/format.h>

#include <system_error>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {

std::filesystem::path absolute_path(const std::filesystem::path& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  if (!error) return absolute.lexically_normal();
  throw Error(FailureKind::usage,
              fmt::format("cannot tell where {} is: the working directory cannot be read ({})",
                          printable(path.native(), 4096), error.message()),
              "it may have been deleted: change to a directory that exists, or give absolute paths");
}

}  // namespace sabath
