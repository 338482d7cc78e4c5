// The libraries that this program was built with and runs with. Pure; any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sabath::cli {

// Name and version text, in the order to show them; MPI is "none" in a build without it.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> library_versions();

}  // namespace sabath::cli
