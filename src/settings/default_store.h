// Where the store is when nothing names it: below SCRATCH, else in the user's cache directory.
#pragma once

#include <filesystem>
#include <string>

#include "sabath/environment.h"

namespace sabath {

struct DefaultStore {
  std::filesystem::path directory;
  std::string origin;    // for people
  bool in_home = false;  // it counts against the quota of the user's home
  std::string doubt{};   // why it cannot be made there; empty: nothing speaks against it
};
// One look at the home directory. Throws Error{usage} where neither SCRATCH nor a home is known.
[[nodiscard]] DefaultStore default_store(const Environment& environment);

}  // namespace sabath
