// Runs the commands of one run, one after the other, and records their output as it comes: by rank, the metrics in it,
// and how each command ended. One thread. Throws Error{command} if a program cannot be started, Error{storage},
// Error{space} if the record cannot be written.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "run/guarded_process.h"
#include "run/run_directory.h"
#include "sabath/metric.h"

namespace sabath {

struct RunStep {
  std::vector<std::string> argv;  // as it is launched
  bool tagged = false;            // its output's lines begin with their rank
  int ranks = 1;                  // processes that its launcher starts
  std::string launcher = {};      // empty: none
  std::optional<int> nodes = 1;   // nullopt: its launcher decides, and does not say
  bool starts_ranks = false;      // it was told how many there are, and may start them by itself
};

struct ExecutionOptions {
  std::vector<std::string> environment;  // of the programs
  std::vector<std::string> patterns;     // of the recipe, for metrics
  std::chrono::milliseconds grace = std::chrono::seconds(10);
  std::filesystem::path companion;      // find_companion()
  std::function<int()> stop_signal;     // what to pass on when a stop is asked for
  std::function<void(pid_t)> on_start;  // the guardian of each step; 0 when it is over
  std::function<void(const Metric&)> on_metric;
  std::function<void(std::string_view)> on_output;  // what the programs print, as it comes
  std::function<void()> on_tick;                    // some times a second
};

struct StepEnd {
  ProcessEnd end;
  double seconds = 0;
};

struct ExecutionEnd {
  std::vector<StepEnd> steps;  // those that were started
  bool stopped = false;        // by a stop request
  double first_output_s = -1;  // after the start; negative: there was none
  std::vector<std::string> last_lines;
  std::uint64_t metrics = 0;
  std::uint64_t not_understood = 0;  // lines that look like metrics (MetricReaderCounts)
};

[[nodiscard]] ExecutionEnd execute(const std::vector<RunStep>& steps, RunDirectory& directory,
                                   const ExecutionOptions& options, const std::stop_token& stop);

}  // namespace sabath
