// The batch job that this process belongs to, for its leases. Pure; any thread.
#pragma once

#include <string>

#include "sabath/environment.h"

namespace sabath {

[[nodiscard]] std::string batch_job(const Environment& environment);  // "slurm 1234"; empty: none

}  // namespace sabath
