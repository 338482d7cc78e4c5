// Reads one growing file of an experiment tracker: fed with its bytes as they come, cut anywhere. Input is hostile:
// memory is bounded for any input, and no input makes a reader throw. A torn end is no damage: its record is told when
// the rest has come. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sabath/metric.h"

namespace sabath {

// What a tracker says of a run besides its metrics; empty or absent: unknown.
struct TrackedRun {
  std::string id, name;
  std::string state;                        // "running", "finished", "failed", "interrupted"
  std::optional<double> started, finished;  // seconds since 1970
  std::optional<int> exit;
  std::vector<std::pair<std::string, std::string>> config;  // hyper-parameters, by name

  // The later value of a name holds. Of a run with very many only the first ones are kept.
  void set_config(const std::string& name, std::string value);
};

struct TrackerCounts {
  std::uint64_t metrics = 0;
  std::uint64_t damaged = 0;     // records whose checksum is wrong, or that are none
  std::uint64_t damaged_at = 0;  // byte of the first one
  std::uint64_t too_long = 0;    // records that were skipped unread
  bool lost = false;             // nothing behind the damage can be read

  void note_damage(std::uint64_t at) {
    if (damaged++ == 0) damaged_at = at;
  }
};

class TrackerReader {
 public:
  using Sink = std::function<void(const Metric&)>;  // called from feed() and finish(); what it throws passes through

  explicit TrackerReader(Sink sink) : sink_(std::move(sink)) {}
  virtual ~TrackerReader() = default;
  TrackerReader(const TrackerReader&) = delete;
  TrackerReader& operator=(const TrackerReader&) = delete;

  virtual void feed(std::string_view bytes) = 0;
  virtual void finish() {}  // the writer has ended
  [[nodiscard]] const TrackedRun& run() const { return run_; }
  [[nodiscard]] const TrackerCounts& counts() const { return counts_; }

 protected:
  void tell(const Metric& metric) {
    ++counts_.metrics;
    sink_(metric);
  }

  TrackedRun run_;
  TrackerCounts counts_;

 private:
  const Sink sink_;
};

// A record longer than this is skipped: histograms, images and graphs stand in the same files.
inline constexpr std::size_t tracker_record_max = 16 << 20;

[[nodiscard]] std::unique_ptr<TrackerReader> make_event_file_reader(TrackerReader::Sink sink);  // TensorBoard
[[nodiscard]] std::unique_ptr<TrackerReader> make_wandb_reader(TrackerReader::Sink sink);
// One metric of MLflow's file store; the file's name is the metric's.
[[nodiscard]] std::unique_ptr<TrackerReader> make_mlflow_metric_reader(std::string name, TrackerReader::Sink sink);

// The first bytes of a file, at least 16 of it if it has them, are an event file's, or a W&B file's.
[[nodiscard]] bool is_event_file(std::string_view front);
[[nodiscard]] bool is_wandb_file(std::string_view front);

}  // namespace sabath
