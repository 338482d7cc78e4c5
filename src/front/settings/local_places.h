// The usual paths of a node's own disk, of those whose disk is there. Any thread.
#pragma once

#include <string>
#include <vector>

#include "sabath/environment.h"

namespace sabath {

// Patterns of StageRequest::to, in the order in which they are tried.
[[nodiscard]] std::vector<std::string> local_places(const Environment& environment);

}  // namespace sabath
