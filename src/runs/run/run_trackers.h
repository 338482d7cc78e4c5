// What a run's programs write for TensorBoard, W&B and MLflow, as metrics of the run: files of trackers in the run's
// directory, but for its own copy of the code, are found and followed while they grow. What cannot be read is left out:
// it ends no run. One thread.
#pragma once

#include <chrono>
#include <filesystem>

#include "trackers/tracked_metrics.h"

namespace sabath {

class RunTrackers {
 public:
  RunTrackers(std::filesystem::path run, TrackerReader::Sink sink) : run_(std::move(run)), tracked_(std::move(sink)) {}

  // Looks for new files and reads what has come, every two seconds at most, and less often where that takes long.
  // Databases are left for read(): they may be locked.
  void tick();
  void read();    // all, now
  void finish();  // the programs have ended

 private:
  using Clock = std::chrono::steady_clock;
  void look(bool databases);

  const std::filesystem::path run_;
  TrackedMetrics tracked_;
  std::filesystem::path first_;  // the base of the first run that was found; empty: none
  Clock::time_point next_ = Clock::now();
};

}  // namespace sabath
