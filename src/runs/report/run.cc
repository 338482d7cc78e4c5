#include "report/run.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>

#include "base/file.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "trackers/tracked_metrics.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t points_max = 4'000'000, names_max = 20'000;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// The values of one name while they are gathered.
struct Gathered {
  struct Value {
    double value = 0, time = unknown;
    int rank = 0;
  };
  std::map<double, Value> by_epoch, by_step;
  std::optional<Value> alone;  // of neither

  void take(const Metric& metric) {
    const Value value{metric.value, metric.time, metric.rank.value_or(-1)};
    const auto keep = [&](Value& old) {
      if (value.rank <= old.rank) old = value;
    };
    if (metric.epoch && !std::isnan(*metric.epoch)) {
      keep(by_epoch.try_emplace(*metric.epoch, value).first->second);
    } else if (metric.step) {
      keep(by_step.try_emplace(static_cast<double>(*metric.step), value).first->second);
    } else if (alone) {
      keep(*alone);
    } else {
      alone = value;
    }
  }
};

class Gatherer {
 public:
  void take(const Metric& metric) {
    ++metrics_;
    if (!std::isnan(metric.time)) {
      first_time_ = std::isnan(first_time_) ? metric.time : std::min(first_time_, metric.time);
      last_time_ = std::isnan(last_time_) ? metric.time : std::max(last_time_, metric.time);
    }
    if (too_large_) return;
    auto [found, is_new] = places_.try_emplace(metric.name, names_.size());
    if (is_new) {
      names_.push_back(metric.name);
      values_.emplace_back();
    }
    values_[found->second].take(metric);
    if (names_.size() > names_max || metrics_ % 65536 == 0) check_size();
  }

  void put(Run& run) const {
    run.by_step = std::all_of(values_.begin(), values_.end(), [](const Gathered& one) { return one.by_epoch.empty(); });
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto& points = run.by_step ? values_[i].by_step : values_[i].by_epoch;
      if (!points.empty()) {
        Series& series = run.series.emplace_back();
        series.name = names_[i];
        for (const auto& [x, value] : points) {
          series.x.push_back(x);
          series.y.push_back(value.value);
          series.time.push_back(value.time);
        }
      }
      if (values_[i].alone) {
        run.figures.emplace_back(names_[i], values_[i].alone->value);
      } else if (points.empty() &&
                 !values_[i].by_step.empty()) {  // others have epochs: the last one is all that fits there
        run.figures.emplace_back(names_[i], values_[i].by_step.rbegin()->second.value);
      }
    }
    run.first_time = first_time_;
    run.last_time = last_time_;
    run.metrics = metrics_;
    run.too_large = too_large_;
  }

 private:
  // A log beyond every bound is counted on, and its values are let go.
  void check_size() {
    std::size_t points = 0;
    for (const Gathered& one : values_) points += one.by_epoch.size() + one.by_step.size();
    if (points <= points_max && names_.size() <= names_max) return;
    too_large_ = true;
    places_.clear();
    names_.clear();
    values_.clear();
  }

  bool too_large_ = false;
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::string> names_;
  std::vector<Gathered> values_;
  double first_time_ = unknown, last_time_ = unknown;
  std::uint64_t metrics_ = 0;
};

void feed_file(const fs::path& path, MetricReader& reader, double time) {
  const Fd fd = open_file(path, O_RDONLY);
  std::vector<std::byte> buffer(1 << 20);
  for (std::uint64_t offset = 0;;) {
    const std::size_t count = read_at(fd.get(), buffer, offset, path);
    if (count == 0) break;
    reader.feed({reinterpret_cast<const char*>(buffer.data()), count}, time);
    offset += count;
  }
  reader.finish();
}

// The file with the metrics of a run directory; its output if the record is missing.
std::optional<fs::path> try_metrics_file(const fs::path& path) {
  for (const char* const name : {"metrics.jsonl", "metrics.csv", "history.csv", "output/stdout"}) {
    const fs::path file = path / name;
    if (const auto status = try_stat(file); status && S_ISREG(status->st_mode)) return file;
  }
  return std::nullopt;
}

// What a tracker has kept at this path, if that is not a log or a run of ours.
std::vector<TrackerPlace> tracker_places(const fs::path& path) {
  return try_metrics_file(path) ? std::vector<TrackerPlace>{} : find_tracker_places(path);
}

TrackedMetrics read_tracked(const fs::path& path, const std::vector<TrackerPlace>& places,
                            const std::function<void(const Metric&)>& take) {
  if (places.size() > 1) {
    throw Error(FailureKind::usage, fmt::format("{} has {} runs", printable(path.string()), places.size()),
                fmt::format("name one of them, such as {}", printable(places.front().base.string(), 4096)));
  }
  TrackedMetrics tracked(take);
  tracked.follow(places.front());
  tracked.read();
  tracked.finish();
  return tracked;
}

fs::path metrics_file(const fs::path& path) {
  if (auto file = try_metrics_file(path)) return *file;
  if (try_stat(path / "job.json") && try_stat(path / "runs")) {
    throw Error(FailureKind::not_found, fmt::format("{} is a job's directory, no run", printable(path.string())),
                fmt::format("name its runs: {}", printable((path / "runs").string(), 4096)));
  }
  throw Error(FailureKind::not_found,
              fmt::format("{} is no run: it has no metrics.jsonl, and no tracker's files", printable(path.string())),
              fmt::format("name a directory that `{}` made, a log file, or a directory of TensorBoard, W&B or MLflow",
                          verb_text("run")));
}

// What a tracker says of a run, as the record that other programs do not write.
std::optional<RunRecord> record_of(const TrackedRun& tracked) {
  if (tracked.id.empty() && tracked.config.empty() && tracked.state.empty()) return std::nullopt;
  RunRecord record;
  record.id = tracked.id;
  record.state = tracked.state;
  record.started = tracked.started;
  record.finished = tracked.finished;
  record.exit = tracked.exit;
  record.config.assign(tracked.config.begin(), tracked.config.end());
  return record;
}

// Options that read complete lines only: a line that a kill has torn has no newline, and no reader believes it.
MetricReaderOptions record_options(MetricReaderOptions options) {
  options.only = "json";
  options.patterns.clear();
  return options;
}

std::string label_of(const fs::path& path) {
  fs::path clean = path.lexically_normal();
  if (!clean.has_filename()) clean = clean.parent_path();
  const std::string name = clean.filename().string();
  return name.empty() || name == "." ? "run" : name;
}

// Replaces the directory of a sweep by its runs, without those that were moved aside.
std::vector<fs::path> with_sweeps(const std::vector<std::string>& paths) {
  std::vector<fs::path> all;
  for (const fs::path path : paths) {
    std::vector<fs::path> inside;
    std::error_code error;
    if (!fs::exists(path / "run.json", error)) {
      for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
        const bool aside = entry.path().filename().string().find(".unfinished-") != std::string::npos;
        if (!aside && fs::exists(entry.path() / "run.json", error)) inside.push_back(entry.path());
      }
    }
    std::sort(inside.begin(), inside.end());
    if (inside.empty() && !fs::exists(path / "run.json", error)) {
      for (const TrackerPlace& place : tracker_places(path)) inside.push_back(place.base);
      if (inside.size() == 1) inside.clear();  // it is what was named
    }
    if (inside.empty()) inside.push_back(path);
    all.insert(all.end(), inside.begin(), inside.end());
  }
  return all;
}

std::string folder_of(const fs::path& path) {
  const fs::path clean = fs::absolute(path).lexically_normal();
  return label_of(clean.has_filename() ? clean.parent_path() : clean.parent_path().parent_path());
}

// a/train.log and b/train.log are known by their folders.
std::string label_among(const std::vector<fs::path>& paths, const fs::path& path) {
  const std::string label = label_of(path), folder = folder_of(path);
  const bool is_shared = std::ranges::any_of(
      paths, [&](const fs::path& other) { return label_of(other) == label && folder_of(other) != folder; });
  return is_shared ? folder + "/" + label : label;
}

}  // namespace

const Series* Run::find(std::string_view name) const {
  for (const Series& one : series) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

MetricReaderCounts for_each_metric(const fs::path& path, const MetricReaderOptions& options,
                                   const std::function<void(const Metric&)>& take) {
  const auto places = tracker_places(path);
  if (!places.empty()) {
    MetricReaderCounts counts;
    counts.metrics = read_tracked(path, places, take).metrics();
    return counts;
  }
  const auto status = try_stat(path);
  if (!status) {
    throw Error(FailureKind::not_found, fmt::format("there is no {}", printable(path.string())),
                "name a run's directory or a log file");
  }
  const bool directory = S_ISDIR(status->st_mode);
  const fs::path file = directory ? metrics_file(path) : path;
  const bool record = file.filename() == "metrics.jsonl" && directory;
  const MetricReader asked(options,
                           take);  // refuses a format or a pattern that is none, also where a record has its own
  MetricReader reader(record ? record_options(options) : options, take);
  feed_file(file, reader, unknown);
  return reader.counts();
}

Run load_run(const fs::path& path, const MetricReaderOptions& options) {
  Run run;
  run.path = path;
  run.label = label_of(path);
  const auto status = try_stat(path);
  run.is_directory = status && S_ISDIR(status->st_mode);
  Gatherer gatherer;
  if (const auto places = tracker_places(path); !places.empty()) {
    const TrackedMetrics tracked = read_tracked(path, places, [&](const Metric& metric) { gatherer.take(metric); });
    gatherer.put(run);
    const TrackedRun known = tracked.run();
    if (!known.name.empty()) run.label = known.name;
    run.record = record_of(known);
    run.damage = tracked.doubts().first;
    return run;
  }
  const auto counts = for_each_metric(path, options, [&](const Metric& metric) { gatherer.take(metric); });
  gatherer.put(run);
  run.not_understood = counts.not_understood;
  run.first_not_understood = counts.first_not_understood;
  run.not_understood_line = counts.not_understood_line;
  if (run.is_directory) run.record = try_read_run_record(path);
  return run;
}

std::string doubts_of(const Run& run) {
  if (!run.damage.empty()) return run.damage;
  if (run.not_understood == 0) return run.metrics == 0 ? printable(run.label) + " has no metric" : std::string{};
  return fmt::format(
      "{}{}: {} line{} like metrics and {} not understood, first line {}: '{}'; {} REGEX reads such lines",
      printable(run.label), run.metrics == 0 ? " has no metric" : "", run.not_understood,
      run.not_understood == 1 ? " looks" : "s look", run.not_understood == 1 ? "is" : "are", run.first_not_understood,
      printable(run.not_understood_line), option_text("pattern"));
}

void refuse_too_large(const Run& run) {
  if (!run.too_large) return;
  throw Error(
      FailureKind::invalid,
      fmt::format("{} has more than {} different names or {} values", printable(run.path.string()), names_max,
                  points_max),
      fmt::format("such a log can still be written out: {} {} csv", verb_text("report"), option_text("format")));
}

std::vector<Run> load_runs(const std::vector<std::string>& paths, const MetricReaderOptions& options) {
  std::vector<Run> runs;
  const std::vector<fs::path> all = with_sweeps(paths);
  for (const fs::path& path : all) {
    Run run = load_run(path, options);
    if (!run.record || run.label == label_of(path)) run.label = label_among(all, path);
    const std::string name = run.label;
    for (int number = 2;
         std::any_of(runs.begin(), runs.end(), [&](const Run& other) { return other.label == run.label; }); ++number)
      run.label = fmt::format("{} ({})", name, number);
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace sabath
