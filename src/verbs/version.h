// The libraries that this program was built with and runs with. Any thread. Throws nothing of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sabath/error.h"

namespace sabath {

struct Library {
  std::string name;
  std::string version;             // MPI's is "none" in a build without it
  std::optional<Failure> missing;  // why it cannot be loaded; then there is no version
};

// In the order to show them.
[[nodiscard]] std::vector<Library> libraries();

}  // namespace sabath
