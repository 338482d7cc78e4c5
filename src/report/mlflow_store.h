// A run as MLflow's file store keeps it: DIRECTORY/0/<run id>/{meta.yaml,metrics,params,tags}; `mlflow ui
// --backend-store-uri DIRECTORY` reads it. Throws Error{storage} and {space}.
#pragma once

#include <filesystem>
#include <string>

#include "metrics/reader.h"
#include "report/run.h"

namespace sabath {

// Writes every metric of the run, whatever rank it is of, and returns the id. An export of the same run replaces its
// files.
std::string write_mlflow_run(const Run& run, const MetricReaderOptions& options,
                             const std::filesystem::path& directory);

}  // namespace sabath
