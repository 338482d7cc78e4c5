// Where the store is by the environment: what a variable names, else below SCRATCH, else in the user's cache directory.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

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

// What names the store, and which variable it is. Throws Error{usage} where two name different ones.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> store_variable(const Environment& environment);

}  // namespace sabath
