// What a user wants packed: a virtual environment or a prefix with an interpreter of its own; where its interpreter,
// standard library and packages stand. Looks at names and links; starts nothing. One thread. Throws Error{usage} for
// what is neither, Error{invalid} for what cannot be moved, each with what to do instead.
#pragma once

#include <filesystem>
#include <string>

namespace sabath {

struct PrefixSource {
  std::filesystem::path given;        // as the user gave it, absolute
  std::filesystem::path root;         // the same without symlinks: packages and scripts
  std::filesystem::path base;         // of the interpreter; the same as `root` if it is one prefix
  std::filesystem::path interpreter;  // its file below base/bin
  std::string python;                 // "python3.11": also the library's folder below lib
  bool is_venv = false;
  [[nodiscard]] std::filesystem::path packages() const { return root / "lib" / python / "site-packages"; }
};

// `interpreter_only`: its packages stay where they are, and so does what else a prefix holds. `of_conda`: it may be one
// whose files name its place.
[[nodiscard]] PrefixSource prefix_source(const std::filesystem::path& prefix, bool interpreter_only = false,
                                         bool of_conda = false);

}  // namespace sabath
