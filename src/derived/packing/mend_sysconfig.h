// The interpreter's notes of where it was built and installed: _sysconfigdata and pkg-config's files follow the tree,
// so that an extension compiles against the headers in it. One thread. Throws Error{storage}.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace sabath {

// The files that were changed, below `top`. `python`: "python3.11".
[[nodiscard]] std::set<std::string> mend_sysconfig(const std::filesystem::path& top, const std::string& python);

}  // namespace sabath
