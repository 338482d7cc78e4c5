// The whole program but for main(): from a command line to an exit code. Main thread only; throws nothing.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/signals.h"
#include "sabath/environment.h"

namespace sabath::cli {

[[nodiscard]] int run_program(const std::vector<std::string>& arguments, const Environment& environment,
                              Signals& signals);

}  // namespace sabath::cli
