// A run as an MLPerf log: init, staging, run, epochs and values as :::MLLOG lines, in the order of their times. It says
// only what the run's record says: what a submission needs besides stays for its author to add. Pure; any thread.
#pragma once

#include <string>

#include "report/run.h"

namespace sabath {

[[nodiscard]] std::string mlperf_log(const Run& run);

}  // namespace sabath
