// MLflow's tables, of mlflow/store/tracking/dbmodels/models.py: runs, metrics (key, value, timestamp, run_uuid, step,
// is_nan) and params (key, value, run_uuid). MLflow stores infinities as the greatest doubles, and reads them as such;
// so does this.
#include "trackers/mlflow_database.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "trackers/sqlite_file.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t runs_max = 10'000, params_max = 10'000;
constexpr std::int64_t from_the_start = std::numeric_limits<std::int64_t>::min();
constexpr std::uint64_t text_bytes_max = 1 << 16;

std::string text_in(const SqliteValue& value) {
  const auto* const text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : std::string{};
}

std::optional<double> number_in(const SqliteValue& value) {
  if (const auto* const integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* const number = std::get_if<double>(&value)) return *number;
  return std::nullopt;
}

std::optional<double> seconds_in(const SqliteValue& milliseconds) {
  const auto value = number_in(milliseconds);
  return value && *value > 0 ? std::optional(*value / 1000) : std::nullopt;
}

// RunStatus as a name, or as the file store's number.
std::string state_of_status(std::string_view status) {
  if (status == "FINISHED" || status == "3") return "finished";
  if (status == "FAILED" || status == "4") return "failed";
  if (status == "KILLED" || status == "5") return "interrupted";
  return "running";
}

void refuse_other_database(const SqliteFile& file, const fs::path& path) {
  if (file.has_table("runs") && file.has_table("metrics")) return;
  throw Error(FailureKind::invalid,
              printable(path.string()) + " is a database, but not MLflow's: it has no runs and metrics",
              "name MLflow's own, often mlflow.db");
}

// The value behind "key: " in MLflow's meta.yaml, without its quotes.
std::string yaml_value(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(key) || line.substr(key.size(), 2) != ": ") continue;
    line.remove_prefix(key.size() + 2);
    if (line.size() >= 2 && (line.front() == '\'' || line.front() == '"') && line.back() == line.front())
      line = line.substr(1, line.size() - 2);
    return line == "null" ? std::string{} : std::string(line);
  }
  return {};
}

}  // namespace

std::vector<std::string> mlflow_run_ids(const fs::path& database) {
  const SqliteFile file(database);
  refuse_other_database(file, database);
  std::vector<std::string> ids;
  file.for_each_row("runs", {"run_uuid", "lifecycle_stage"}, from_the_start, [&](const SqliteRow& row) {
    const std::string id = text_in(row.values[0]);
    const bool plain = !id.empty() && id.find('/') == std::string::npos && id.front() != '.';
    if (plain && text_in(row.values[1]) != "deleted" && ids.size() < runs_max) ids.push_back(id);
  });
  return ids;
}

MlflowDatabaseReader::MlflowDatabaseReader(fs::path database, std::string run, TrackerReader::Sink sink)
    : database_(std::move(database)), id_(std::move(run)), sink_(std::move(sink)), after_(from_the_start) {}

void MlflowDatabaseReader::read() {
  const SqliteFile file(database_);
  refuse_other_database(file, database_);
  file.for_each_row("runs", {"run_uuid", "name", "status", "start_time", "end_time"}, from_the_start,
                    [this](const SqliteRow& row) {
                      if (text_in(row.values[0]) != id_) return;
                      run_.id = id_;
                      run_.name = text_in(row.values[1]);
                      run_.state = state_of_status(text_in(row.values[2]));
                      run_.started = seconds_in(row.values[3]);
                      run_.finished = seconds_in(row.values[4]);
                    });
  if (run_.id.empty()) {
    throw Error(FailureKind::not_found, fmt::format("{} has no run {}", printable(database_.string()), printable(id_)),
                "name one of its runs, or the database for all of them");
  }
  if (file.has_table("params")) {
    file.for_each_row("params", {"run_uuid", "key", "value"}, from_the_start, [this](const SqliteRow& row) {
      if (text_in(row.values[0]) == id_) run_.set_config(text_in(row.values[1]), text_in(row.values[2]));
    });
  }
  Metric metric;
  file.for_each_row("metrics", {"run_uuid", "key", "value", "timestamp", "step", "is_nan"}, after_,
                    [&](const SqliteRow& row) {
                      after_ = row.number;
                      if (text_in(row.values[0]) != id_) return;
                      const auto value = number_in(row.values[2]);
                      const auto nan = number_in(row.values[5]);
                      metric.name = text_in(row.values[1]);
                      metric.value = nan.value_or(0) != 0 ? std::nan("") : value.value_or(std::nan(""));
                      metric.time = seconds_in(row.values[3]).value_or(std::nan(""));
                      metric.step = static_cast<std::int64_t>(number_in(row.values[4]).value_or(0));
                      ++metrics_;
                      sink_(metric);
                    });
}

TrackedRun read_mlflow_run(const fs::path& directory) {
  TrackedRun run;
  const std::string meta = try_read_text(directory / "meta.yaml", text_bytes_max).value_or("");
  run.id = yaml_value(meta, "run_id");
  run.name = yaml_value(meta, "run_name");
  run.state = state_of_status(yaml_value(meta, "status"));
  const auto seconds = [&](const char* key) -> std::optional<double> {
    const auto value = try_number(yaml_value(meta, key));
    return value && *value > 0 ? std::optional(*value / 1000) : std::nullopt;
  };
  run.started = seconds("start_time");
  run.finished = seconds("end_time");
  const fs::path params = directory / "params";
  std::error_code unreadable;
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator at(params, unreadable), end;
       !unreadable && at != end && files.size() < params_max; at.increment(unreadable)) {
    if (at->is_regular_file(unreadable)) files.push_back(at->path());
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    if (const auto value = try_read_text(file, text_bytes_max))
      run.set_config(file.lexically_relative(params).string(), *value);
  }
  return run;
}

}  // namespace sabath
