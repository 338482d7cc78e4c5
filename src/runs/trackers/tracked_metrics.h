// Follows the files of trackers as they grow: each call of read() tells what has come since. One thread. Throws
// Error{storage} if a file cannot be read; Error{invalid} and {not_found} of MLflow's databases (mlflow_database.h).
// What the sink throws passes through.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "trackers/mlflow_database.h"
#include "trackers/tracker_places.h"
#include "trackers/tracker_reader.h"

namespace sabath {

// What is wrong with what was read; for people.
struct TrackerDoubts {
  std::uint64_t damaged = 0, too_long = 0;  // records
  std::string first;                        // "FILE: byte 1234: a record is damaged"; empty: none
};

class TrackedMetrics {
 public:
  explicit TrackedMetrics(TrackerReader::Sink sink) : sink_(std::move(sink)) {}

  // Adds those of its files that are not followed yet. `front`: in front of its metrics' names.
  void follow(const TrackerPlace& place, const std::string& front = {});
  void read();    // a file or database that fails is read the next time; the first Error is thrown behind the others
  void finish();  // the writers have ended, and read() has been called since
  [[nodiscard]] std::uint64_t metrics() const { return metrics_; }
  [[nodiscard]] TrackedRun run() const;  // of all files: what the first one knows, and every one's configuration
  [[nodiscard]] TrackerDoubts doubts() const;

 private:
  struct Followed {
    TrackerFile file;
    std::unique_ptr<TrackerReader> reader;
    std::unique_ptr<MlflowDatabaseReader> database;
    std::uint64_t offset = 0;
  };
  TrackerReader::Sink named(std::string front);
  void read(Followed& followed);

  const TrackerReader::Sink sink_;
  std::uint64_t metrics_ = 0;
  std::vector<Followed> followed_;
  std::set<std::filesystem::path> known_;
  std::vector<std::filesystem::path> mlflow_runs_;  // directories of the file store
  std::string buffer_;
};

}  // namespace sabath
