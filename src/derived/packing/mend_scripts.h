// Scripts of bin that name their interpreter by its place get one that follows the script's own place; and `activate`
// of our own. One thread. Throws Error{invalid} for a script that another environment's program has to run.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace sabath {

struct MendedScripts {
  std::set<std::string> changed;     // "bin/f2py"
  std::vector<std::string> remarks;  // of scripts that the system's interpreter runs
};

// `top`: the tree that is packed. `place`: the only one where it will be; programs of it may then run scripts. Empty:
// any.
[[nodiscard]] MendedScripts mend_scripts(const std::filesystem::path& top, const std::filesystem::path& place = {});
void write_activation(const std::filesystem::path& top);
// The lines that a script begins with, instead of "#!PYTHON FLAGS". Python reads them as a text.
[[nodiscard]] std::string script_start(const std::string& flags);

}  // namespace sabath
