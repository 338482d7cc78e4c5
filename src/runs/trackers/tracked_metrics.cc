#include "trackers/tracked_metrics.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "base/file.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t followed_max = 20'000;
constexpr std::size_t read_bytes = 1 << 20;

void join_run(TrackedRun& run, const TrackedRun& other) {
  if (run.id.empty()) run.id = other.id;
  if (run.name.empty()) run.name = other.name;
  if (run.state.empty()) run.state = other.state;
  if (!run.started || (other.started && *other.started < *run.started)) run.started = other.started;
  if (!run.finished) run.finished = other.finished;
  if (!run.exit) run.exit = other.exit;
  for (const auto& [name, value] : other.config) run.set_config(name, value);
}

}  // namespace

void TrackedMetrics::follow(const TrackerPlace& place, const std::string& front) {
  for (const TrackerFile& file : place.files) {
    if (followed_.size() >= followed_max || !known_.insert(file.path).second) continue;
    Followed& one = followed_.emplace_back();
    one.file = file;
    const TrackerReader::Sink sink = named(front + file.front);
    switch (file.kind) {
      case TrackerKind::tensorboard:
        one.reader = make_event_file_reader(sink);
        break;
      case TrackerKind::wandb:
        one.reader = make_wandb_reader(sink);
        break;
      case TrackerKind::mlflow_files:
        one.reader = make_mlflow_metric_reader(file.path.lexically_relative(place.base / "metrics").string(), sink);
        break;
      case TrackerKind::mlflow_database:
        one.database =
            std::make_unique<MlflowDatabaseReader>(file.path.parent_path(), file.path.filename().string(), sink);
        break;
    }
    if (file.kind == TrackerKind::mlflow_files && known_.insert(place.base).second) mlflow_runs_.push_back(place.base);
  }
}

TrackerReader::Sink TrackedMetrics::named(std::string front) {
  return [this, front = std::move(front)](const Metric& metric) {
    ++metrics_;
    if (front.empty()) return sink_(metric);
    Metric with_front = metric;
    with_front.name.insert(0, front);
    sink_(with_front);
  };
}

void TrackedMetrics::read() {
  std::optional<Error> first;
  for (Followed& one : followed_) {
    try {
      read(one);
    } catch (const Error& error) {
      if (!first) first = error;
    }
  }
  if (first) throw Error(*first);
}

void TrackedMetrics::read(Followed& followed) {
  if (followed.database) return followed.database->read();
  const auto status = try_stat(followed.file.path);
  if (!status || static_cast<std::uint64_t>(status->st_size) <= followed.offset) return;
  const auto fd = try_open_file(followed.file.path, O_RDONLY);
  if (!fd) return;  // its program has removed it
  buffer_.resize(read_bytes);
  while (const std::size_t count =
             read_at(fd->get(), std::as_writable_bytes(std::span(buffer_)), followed.offset, followed.file.path)) {
    followed.reader->feed(std::string_view(buffer_).substr(0, count));
    followed.offset += count;
  }
}

void TrackedMetrics::finish() {
  for (Followed& one : followed_) {
    if (one.reader) one.reader->finish();
  }
}

TrackedRun TrackedMetrics::run() const {
  TrackedRun run;
  for (const Followed& one : followed_) join_run(run, one.database ? one.database->run() : one.reader->run());
  for (const fs::path& directory : mlflow_runs_) join_run(run, read_mlflow_run(directory));
  return run;
}

TrackerDoubts TrackedMetrics::doubts() const {
  TrackerDoubts doubts;
  for (const Followed& one : followed_) {
    if (!one.reader) continue;
    const TrackerCounts& counts = one.reader->counts();
    doubts.damaged += counts.damaged;
    doubts.too_long += counts.too_long;
    if (counts.damaged == 0 || !doubts.first.empty()) continue;
    doubts.first = fmt::format("{}: byte {}: a record is damaged{}", printable(one.file.path.string()),
                               counts.damaged_at, counts.lost ? ", and what follows cannot be read" : "");
  }
  return doubts;
}

}  // namespace sabath
