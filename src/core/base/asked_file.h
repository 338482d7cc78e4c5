// A file that a user named: what can be wrong with the name is said as his mistake, not as one of the system.
#pragma once

#include <filesystem>

namespace sabath {

// Throws Error{usage} if a directory has this name.
void refuse_directory(const std::filesystem::path& file);

}  // namespace sabath
