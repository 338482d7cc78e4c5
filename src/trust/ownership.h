// Whose a file or directory is: who could have written what stands there. Looks at owners and permissions of it and of
// all directories above it, as the kernel does when it opens it. Any thread. Throws Error{storage}.
#pragma once

#include <filesystem>

namespace sabath {

enum class Ownership {
  shipped,  // it came with the program: who can change it can change the program
  own,      // no other user but root could have written it
  others,   // another user owns it, or may write there; or there is no such file
};

// `shipped`: the directory of what came with the program; empty: none. `program`: its file; its owner may own what it
// came with.
[[nodiscard]] Ownership ownership_of(const std::filesystem::path& file, const std::filesystem::path& shipped = {},
                                     const std::filesystem::path& program = {});

}  // namespace sabath
