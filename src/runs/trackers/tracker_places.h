// Finds the files of experiment trackers below a directory, by run. Any thread. Throws Error{storage}.
//
// A directory with event files is a run, as TensorBoard has it; its directories named by a part of the data (train,
// validation,
// ...) and those below it belong to it, with their names in front of their metrics. A W&B file is a run, and so is a
// run of MLflow's stores.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trackers/tracker_reader.h"

namespace sabath {

enum class TrackerKind : std::uint8_t { tensorboard, wandb, mlflow_files, mlflow_database };

struct TrackerFile {
  TrackerKind kind = TrackerKind::tensorboard;
  std::filesystem::path path;  // of mlflow_database: DATABASE/RUN
  std::string front;           // of its metrics' names: "validation/"
};

// One run.
struct TrackerPlace {
  std::filesystem::path base;      // names it
  std::vector<TrackerFile> files;  // in the order in which they are read
};

// What is at `path`: of a directory all that is below it, in the order of names; of a file, or of DATABASE/RUN, itself.
// Symlinks to directories below are not followed. At most 100,000 names are looked at, 12 directories deep. Without
// `databases` those of a directory are passed over: to read which runs they have waits for their writers.
[[nodiscard]] std::vector<TrackerPlace> find_tracker_places(const std::filesystem::path& path, bool databases = true);

}  // namespace sabath
