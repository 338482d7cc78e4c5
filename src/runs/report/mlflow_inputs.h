// The assets of a run as MLflow's inputs of it: EXPERIMENT/datasets/ID, EXPERIMENT/models/ID, and RUN/inputs/ID which
// joins them. Any thread. Throws Error{storage}, {space}.
#pragma once

#include <filesystem>
#include <string>

#include "report/run.h"

namespace sabath {

// `run_directory` is EXPERIMENT/RUN. Assets without a manifest are left out: nothing says what they were.
void write_mlflow_inputs(const Run& run, const std::filesystem::path& run_directory);

}  // namespace sabath
