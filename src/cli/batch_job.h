// Which batch job this process belongs to, for the leases that it takes. Pure; any thread.
#pragma once

#include <string>

#include "cli/environment.h"

namespace sabath::cli {

[[nodiscard]] std::string batch_job(const Environment& environment);  // "slurm 1234"; empty: none

}  // namespace sabath::cli
