// A run as reports see it: read from its directory (docs/runs.md), from a plain log, a CSV or a JSON-lines file, or
// from the files of an experiment tracker (src/runs/trackers). Plain data, read-only once made; any thread. Reading
// throws Error{not_found} if there is nothing to read, {invalid} for what is no run or beyond every bound, {storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/reader.h"
#include "record/run_record.h"
#include "sabath/metric.h"

namespace sabath {

// One value for each epoch, or for each step if the log has no epochs; x ascends. If several ranks print the same
// value, the lowest rank counts; if one rank prints it again, the last value counts.
struct Series {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> time;  // when it was told; NaN: not known
};

struct Run {
  std::string label;           // unique among the runs of a report
  std::filesystem::path path;  // as the user named it
  bool is_directory = false;
  bool by_step = false;                                 // x is the step, not the epoch
  std::vector<Series> series;                           // in the order in which they appeared
  std::vector<std::pair<std::string, double>> figures;  // of no epoch: the last value of each name
  double first_time = 0, last_time = 0;                 // of all metrics; NaN: not known
  std::uint64_t metrics = 0;                            // told in all
  bool too_large = false;                               // beyond every bound: `series` and `figures` are empty
  std::uint64_t not_understood = 0;  // lines that look like metrics and are not read (MetricReaderCounts)
  std::uint64_t first_not_understood = 0;
  std::string not_understood_line;
  std::string damage;               // of a tracker's files: the first record that cannot be read; empty: none
  std::optional<RunRecord> record;  // run.json, or what a tracker says; nullopt if there is none

  [[nodiscard]] const Series* find(std::string_view name) const;
};

// Each metric in the order of the file; returns what was counted.
MetricReaderCounts for_each_metric(const std::filesystem::path& path, const MetricReaderOptions& options,
                                   const std::function<void(const Metric&)>& take);

[[nodiscard]] Run load_run(const std::filesystem::path& path, const MetricReaderOptions& options);
// A warning for the user: the run has no metric, or lines were not understood; empty: none.
[[nodiscard]] std::string doubts_of(const Run& run);
// What needs the values of a run refuses one that is too large. Throws Error{invalid}.
void refuse_too_large(const Run& run);
// Labels are made unique.
[[nodiscard]] std::vector<Run> load_runs(const std::vector<std::string>& paths, const MetricReaderOptions& options);

}  // namespace sabath
