// Code of a file that is loaded into this process: opened once, judged, and loaded by the very descriptor that was
// judged, so that no other account exchanges it in between. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "base/file.h"

namespace sabath {

// Open, for load(); or why it may not be loaded: another account may write it, or a directory above it (why_not_own).
// Empty: it is not there. `program`: the file of this program.
[[nodiscard]] std::variant<Fd, std::string> open_loadable(const std::filesystem::path& file,
                                                          const std::filesystem::path& program);

// dlopen(3). nullptr: dlerror(3) says why.
[[nodiscard]] void* load(const Fd& file, const std::filesystem::path& name, int flags);

}  // namespace sabath
