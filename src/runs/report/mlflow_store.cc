// A run as MLflow's file store keeps it: DIRECTORY/0/<run id>/{meta.yaml,metrics,params,tags}; `mlflow ui
// --backend-store-uri DIRECTORY` reads it. Every metric of the run is there, of every rank. An export of the
// same run replaces its files.
#include <fcntl.h>
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/working_directory.h"
#include "metrics/json_scan.h"
#include "metrics/record.h"
#include "report/exporter.h"
#include "report/mlflow_inputs.h"
#include "report/summary.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr const char* experiment = "0";
constexpr int finished = 3, failed = 4, killed = 5, running = 1;  // mlflow.entities.RunStatus
constexpr std::size_t name_length_max = 200, text_length_max = 500;

// A key that MLflow and a file system accept, and that leads to no other directory.
std::string key_of(std::string_view name) {
  std::string key;
  for (const char c : name.substr(0, name_length_max)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                       c == '-' || c == '.' || c == ' ';
    key += plain ? c : '_';
  }
  if (key.empty() || key.front() == '.' || key.front() == ' ') key.insert(0, "_");
  return key;
}

// MLflow's names of runs are 32 hexadecimal digits; the same run has the same one.
std::string id_of(const Run& run) {
  std::error_code ignored;
  std::string where = run.record ? run.record->id : "";
  if (where.empty()) {
    where = fs::weakly_canonical(run.path, ignored).string();
  } else if (run.record->started) {
    where += number_text(*run.record->started);
  }
  return to_hex(sha256("sabath run " + where).bytes()).substr(0, 32);
}

int status_of(const Run& run) {
  const std::string state = run.record ? run.record->state : "";
  if (state == "running") return running;
  if (state == "failed") return failed;
  return state == "interrupted" ? killed : finished;
}

std::string yaml(std::string_view key, const std::string& value) { return fmt::format("{}: {}\n", key, value); }

std::string run_yaml(const Run& run, const std::string& id, const fs::path& directory) {
  const auto number = [](const std::optional<double>& recorded, double otherwise) {
    return fmt::format("{}", to_milliseconds(recorded.value_or(otherwise)));
  };
  const RunRecord none, &record = run.record ? *run.record : none;
  const int status = status_of(run);
  return yaml("artifact_uri", json_quote("file://" + (directory / "artifacts").string())) +
         yaml("end_time", status == running ? "null" : number(record.finished, run.last_time)) +
         "entry_point_name: ''\n" + yaml("experiment_id", fmt::format("'{}'", experiment)) +
         "lifecycle_stage: active\n" + yaml("run_id", id) + yaml("run_name", json_quote(run.label)) +
         yaml("run_uuid", id) + "source_name: sabath\nsource_type: 4\n" +
         yaml("source_version", json_quote(commit_of(run))) +
         yaml("start_time", number(record.started, run.first_time)) + yaml("status", fmt::format("{}", status)) +
         "tags: []\nuser_id: ''\n";
}

void write(const fs::path& path, const std::string& text) {
  Fd fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  write_all(fd.get(), std::as_bytes(std::span(text)), path);
  close_file(std::move(fd), path);
}

// "timestamp value step" lines by metric, gathered and written in pieces: a log may be larger than memory.
class MetricFiles {
 public:
  explicit MetricFiles(fs::path directory) : directory_(std::move(directory)) {}

  void take(const Metric& metric) {
    // MLflow has no ranks and whole steps: other ranks than the first get a name of their own.
    std::string name = metric.name;
    if (metric.rank.value_or(0) > 0) name += fmt::format(" rank {}", *metric.rank);
    const double step = metric.epoch ? *metric.epoch : static_cast<double>(metric.step.value_or(0));
    std::string& lines = lines_[key_of(name)];
    const std::string value = std::isfinite(metric.value) ? number_text(metric.value)
                              : std::isnan(metric.value)  ? "nan"
                              : metric.value > 0          ? "inf"
                                                          : "-inf";
    const std::string line = fmt::format("{} {} {}\n", to_milliseconds(metric.time), value,
                                         std::abs(step) < 9e15 ? static_cast<std::int64_t>(step) : 0);
    lines += line;
    gathered_ += line.size();
    if (gathered_ > gathered_max) flush();
  }

  void flush() {
    for (auto& [name, lines] : lines_) {
      const fs::path path = directory_ / name;
      Fd fd = open_file(path, O_WRONLY | O_CREAT | O_APPEND);
      write_all(fd.get(), std::as_bytes(std::span(lines)), path);
      close_file(std::move(fd), path);
    }
    lines_.clear();
    gathered_ = 0;
  }

 private:
  static constexpr std::size_t gathered_max = 16 << 20;
  fs::path directory_;
  std::map<std::string, std::string> lines_;
  std::size_t gathered_ = 0;
};

void write_experiment(const fs::path& directory) {
  make_directories(directory);
  const fs::path meta = directory / "meta.yaml";
  if (try_stat(meta)) return;
  write(meta, yaml("artifact_location", json_quote("file://" + directory.string())) + "creation_time: 0\n" +
                  yaml("experiment_id", fmt::format("'{}'", experiment)) +
                  "last_update_time: 0\nlifecycle_stage: active\nname: Default\n");
}

void write_facts(const fs::path& directory, const Facts& facts) {
  for (const auto& [name, value] : facts) {
    if (!value.empty()) write(directory / key_of(name), printable(value, text_length_max));
  }
}

Facts tags_of(const Run& run) {
  Facts tags{{"mlflow.runName", run.label}, {"mlflow.source.name", "sabath"}, {"mlflow.source.type", "LOCAL"}};
  tags.emplace_back("mlflow.source.git.commit", commit_of(run));
  tags.emplace_back("sabath.recipe", recipe_of(run).name);
  tags.emplace_back("sabath.recipe.digest", recipe_of(run).digest);
  for (const auto& [name, value] : machine_of(run)) tags.emplace_back("sabath.machine." + name, value);
  for (const RunRecord::Asset& asset : assets_of(run)) {
    if (!asset.manifest.empty()) tags.emplace_back("sabath.manifest." + asset.name, asset.manifest);
  }
  return tags;
}

std::string write_run(const Run& run, const MetricReaderOptions& options, const fs::path& directory) {
  const fs::path root = absolute_path(directory);
  const std::string id = id_of(run);
  write_experiment(root / experiment);
  const fs::path place = root / experiment / id;
  remove_tree(place);
  for (const char* const name : {"metrics", "params", "tags", "artifacts"}) make_directories(place / name);
  write_facts(place / "params", config_of(run));
  write_facts(place / "tags", tags_of(run));
  MetricFiles files(place / "metrics");
  for_each_metric(run.path, options, [&](const Metric& metric) { files.take(metric); });
  files.flush();
  write_mlflow_inputs(run, place);
  write(place / "meta.yaml", run_yaml(run, id, place));  // last: a run without it is not there
  return id;
}

void write_mlflow(std::span<const Run> runs, const ExportOptions& options, ExportSink& sink) {
  for (const Run& run : runs) sink.say("mlflow run " + write_run(run, options.reader, options.directory));
}

}  // namespace

extern constexpr Exporter mlflow_exporter{
    .name = "mlflow", .target = Exporter::Target::directory, .write = write_mlflow};

}  // namespace sabath
