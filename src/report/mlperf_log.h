// A run as an MLPerf log: init, staging, run, epochs and values as :::MLLOG lines, in the order of their times. It says
// what the run's record says, and what its author adds; what a submission to MLPerf HPC wants besides is named, never
// made up. Pure; any thread. Throws Error{not_found} for a metric that the run does not have.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/run.h"

namespace sabath {

// By key: a JSON number, list, true, false or null stands for itself, anything else is a text; "@NAME" is the run's
// metric NAME, epoch by epoch. Over what the record says.
using MlperfFields = std::map<std::string, std::string>;

struct MlperfLog {
  std::string text;
  std::vector<std::string> missing;  // keys that the rules of MLPerf HPC 3.0 want and nobody gave
};

[[nodiscard]] MlperfLog mlperf_log(const Run& run, const MlperfFields& fields);

}  // namespace sabath
