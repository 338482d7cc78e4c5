// Relative paths, made absolute at the door. Any thread.
#pragma once

#include <filesystem>

namespace sabath {

// From the working directory, without dots. Throws Error{usage} if that is needed and has been deleted.
[[nodiscard]] std::filesystem::path absolute_path(const std::filesystem::path& path);

}  // namespace sabath
