// The runs in MLflow's sqlite store (mlflow.db), read as sqlite_file.h says, and those of its file store. One thread.
// Throws as that does; Error{invalid} for a database that is not MLflow's, Error{not_found} for a run that is not in
// it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trackers/tracker_reader.h"

namespace sabath {

// At most 10,000, in the order in which they were made.
[[nodiscard]] std::vector<std::string> mlflow_run_ids(const std::filesystem::path& database);

class MlflowDatabaseReader {
 public:
  MlflowDatabaseReader(std::filesystem::path database, std::string run, TrackerReader::Sink sink);

  void read();  // tells what has come since the last time
  [[nodiscard]] const TrackedRun& run() const { return run_; }
  [[nodiscard]] std::uint64_t metrics() const { return metrics_; }

 private:
  const std::filesystem::path database_;
  const std::string id_;
  const TrackerReader::Sink sink_;
  std::int64_t after_ = 0;
  std::uint64_t metrics_ = 0;
  TrackedRun run_;
};

// What the directory of a run of the file store says besides its metrics: meta.yaml and params.
[[nodiscard]] TrackedRun read_mlflow_run(const std::filesystem::path& directory);

}  // namespace sabath
