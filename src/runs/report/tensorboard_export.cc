// A run as TensorBoard's event file: DIRECTORY/<run>/events.out.tfevents.<start>.sabath; `tensorboard --logdir
// DIRECTORY` shows it. Every metric of the run is there, as a tensor of one double of the plug-in `scalars`: a
// simple_value would be a float. The configuration stands in it for the plug-in `hparams`. An export of the same run
// replaces its file. src/runs/trackers/event_file.cc has the format.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/file.h"
#include "base/number.h"
#include "formats/crc32c.h"
#include "formats/protobuf.h"
#include "report/exporter.h"
#include "report/summary.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t written_at_once = 1 << 20, directory_name_max = 200;
constexpr std::uint64_t type_float = 1, type_double = 2, class_scalar = 1;

// Records of an event file under a temporary name; finish() gives it its own.
class EventFile {
 public:
  explicit EventFile(fs::path path)
      : path_(std::move(path)),
        unfinished_(path_.string() + ".part"),
        fd_(open_file(unfinished_, O_WRONLY | O_CREAT | O_TRUNC)) {}

  void add(double time, std::int64_t step, std::uint32_t field, std::string_view content) {
    ProtobufWriter event;
    event.add_double(1, time);
    if (step != 0) event.add_varint(2, static_cast<std::uint64_t>(step));
    event.add_bytes(field, content);
    const std::size_t begin = text_.size();
    append_little_endian(text_, event.text().size(), 8);
    append_little_endian(text_, mask_crc(crc32c(std::string_view(text_).substr(begin, 8))), 4);
    text_ += event.text();
    append_little_endian(text_, mask_crc(crc32c(event.text())), 4);
    if (text_.size() > written_at_once) flush();
  }

  void finish() {
    flush();
    close_file(std::move(fd_), unfinished_);
    rename_path(unfinished_, path_);
  }

 private:
  void flush() {
    write_all(fd_.get(), std::as_bytes(std::span(text_)), unfinished_);
    text_.clear();
  }

  const fs::path path_, unfinished_;
  Fd fd_;
  std::string text_;
};

constexpr std::uint32_t event_file_version = 3, event_summary = 5;

std::string summary_of(std::string_view tag, std::string_view tensor, std::string_view metadata) {
  ProtobufWriter value, summary;
  value.add_bytes(1, tag);
  value.add_bytes(8, tensor);
  if (!metadata.empty()) value.add_bytes(9, metadata);
  summary.add_bytes(1, value.text());
  return summary.text();
}

std::string scalar_tensor(double number) {
  ProtobufWriter tensor;
  std::string packed;
  append_little_endian(packed, std::bit_cast<std::uint64_t>(number), 8);
  tensor.add_varint(1, type_double);
  tensor.add_bytes(2, "");  // a shape without dimensions
  tensor.add_bytes(6, packed);
  return tensor.text();
}

std::string metadata_of(std::string_view plugin, std::string_view content, std::uint64_t data_class) {
  ProtobufWriter data, metadata;
  data.add_bytes(1, plugin);
  if (!content.empty()) data.add_bytes(2, content);
  metadata.add_bytes(1, data.text());
  if (data_class != 0) metadata.add_varint(4, data_class);
  return metadata.text();
}

// An entry of SessionStartInfo's map: a number where the text is one.
std::string hparam(const std::string& name, const std::string& text) {
  ProtobufWriter value, entry;
  const auto number = try_number(text);
  if (number && std::isfinite(*number)) {
    value.add_double(2, *number);
  } else if (text == "true" || text == "false") {
    value.add_varint(4, text == "true" ? 1 : 0);
  } else {
    value.add_bytes(3, text);
  }
  entry.add_bytes(1, name);
  entry.add_bytes(2, value.text());
  return entry.text();
}

void add_hparams(EventFile& file, const Run& run, double start) {
  const Facts config = config_of(run);
  if (config.empty()) return;
  ProtobufWriter session, started, tensor;
  for (const auto& [name, text] : config) session.add_bytes(1, hparam(name, text));
  session.add_bytes(4, run.label);
  session.add_double(5, start);
  started.add_bytes(3, session.text());
  tensor.add_varint(1, type_float);
  file.add(start, 0, event_summary,
           summary_of("_hparams_/session_start_info", tensor.text(), metadata_of("hparams", started.text(), 0)));
  if (!run.record || !run.record->finished) return;
  ProtobufWriter end, ended;
  end.add_varint(1, run.record->state == "finished" ? 1 : 2);
  end.add_double(2, *run.record->finished);
  ended.add_bytes(4, end.text());
  file.add(*run.record->finished, 0, event_summary,
           summary_of("_hparams_/session_end_info", tensor.text(), metadata_of("hparams", ended.text(), 0)));
}

// The label as one directory.
std::string directory_of(const std::string& label) {
  std::string name = label.substr(0, directory_name_max);
  for (char& c : name) {
    if (c == '/' || static_cast<unsigned char>(c) < ' ') c = '_';
  }
  if (name.empty() || name.front() == '.') name.insert(0, "_");
  return name;
}

// Epochs that are parts of one are no steps.
bool has_whole_epochs(const Run& run) {
  const auto whole = [](const Series& one) {
    return std::ranges::all_of(one.x, [](double x) { return std::trunc(x) == x; });
  };
  return !run.by_step && std::ranges::all_of(run.series, whole);
}

std::string export_run(const Run& run, const MetricReaderOptions& options, const fs::path& directory) {
  const double first = std::isfinite(run.first_time) ? run.first_time : 0;
  const double start = run.record && run.record->started ? *run.record->started : first;
  const fs::path place = directory / directory_of(run.label);
  make_directories(place);
  const std::string name = fmt::format("events.out.tfevents.{:010}.sabath", static_cast<std::int64_t>(start));
  EventFile file(place / name);
  file.add(start, 0, event_file_version, "brain.Event:2");
  add_hparams(file, run, start);
  const bool by_epoch = has_whole_epochs(run);
  const std::string scalars = metadata_of("scalars", "", class_scalar);
  std::unordered_set<std::string> described;
  for_each_metric(run.path, options, [&](const Metric& metric) {
    std::string tag = metric.name;
    if (metric.rank.value_or(0) > 0) tag += fmt::format(" rank {}", *metric.rank);
    const bool epoch_counts = metric.epoch && (by_epoch || !metric.step) && std::abs(*metric.epoch) < 9e15;
    const std::int64_t step = epoch_counts ? static_cast<std::int64_t>(*metric.epoch) : metric.step.value_or(0);
    const bool first_of_tag = described.insert(tag).second;
    file.add(std::isfinite(metric.time) ? metric.time : start, step, event_summary,
             summary_of(tag, scalar_tensor(metric.value), first_of_tag ? scalars : ""));
  });
  file.finish();
  return (place / name).string();
}

void write_tensorboard(std::span<const Run> runs, const ExportOptions& options, ExportSink& sink) {
  for (const Run& run : runs) sink.say("event file " + export_run(run, options.reader, options.directory));
}

}  // namespace

extern constexpr Exporter tensorboard_exporter{
    .name = "tensorboard", .target = Exporter::Target::directory, .write = write_tensorboard};

}  // namespace sabath
