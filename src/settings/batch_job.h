// Which batch job this process belongs to, for the leases that it takes. Pure; any thread.
#pragma once

#include <string>

#include "sabath/environment.h"

namespace sabath {

[[nodiscard]] std::string batch_job(const Environment& environment);  // "slurm 1234"; empty: none

}  // namespace sabath
