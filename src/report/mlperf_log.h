// A run as an MLPerf log: init, staging, run, epochs and values as :::MLLOG lines, in the order of their times. It says
// what the program printed, else what the run's record says, and what its author adds; what a submission to MLPerf HPC
// wants besides is named, never made up. Reads the run's file once more; any thread. Throws Error{not_found} for a
// metric that the run does not have, {invalid} for more values than a log can have, {storage}.
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
  std::vector<std::string> missing;      // keys that the rules of MLPerf HPC 3.0 want and nobody gave
  std::vector<std::string> not_printed;  // of init, staging and run: written with other times than the program's
};

[[nodiscard]] MlperfLog mlperf_log(const Run& run, const MetricReaderOptions& options, const MlperfFields& fields);

}  // namespace sabath
