// A run as an MLPerf log: init, staging, run, epochs and values as :::MLLOG lines, in the order of their times. Values
// come from the program's output, else from the run's record, and from the user's fields. Keys that a submission to
// MLPerf HPC wants besides are named, never made up. Reads the run's file once more. Throws Error{not_found} for a
// metric that the run does not have, {invalid} for more values than a log can have.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/wording.h"
#include "metrics/json_scan.h"
#include "metrics/record.h"
#include "report/exporter.h"
#include "report/mlperf_rules.h"
#include "report/printed_points.h"
#include "report/summary.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr const char *point = "POINT_IN_TIME", *start = "INTERVAL_START", *stop = "INTERVAL_END";

struct Line {
  double time = 0;
  std::string text;
};

struct Interval {
  double begin = 0, end = 0;  // seconds since 1970
};

constexpr std::string_view init_time = "init_time", staging_time = "staging_time", run_time = "run_time",
                           run_success = "run_success";

// True for a value of an epoch or a step; others belong to the whole run.
bool is_placed(const PrintedPoint& point) { return point.epoch || point.step; }

// These are written as lines of their own, and not as values.
bool is_interval(std::string_view name) {
  return name == init_time || name == staging_time || name == run_time || name == run_success;
}

// The interval that the program printed by X_start and X_stop: the reader gives X_time at the stop.
std::optional<Interval> printed_interval(const PrintedPoints& printed, std::string_view name) {
  const PrintedPoint* const point = printed.find(name);
  if (point == nullptr || !std::isfinite(point->time) || point->is_list || !(point->values.back() >= 0))
    return std::nullopt;
  return Interval{point->time - point->values.back(), point->time};
}

// The text as a JSON number, true, false, null or list if it is one, else as a JSON string.
std::string value_of(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded() || json.is_string() || json.is_object()) return json_quote(text);
  return json.is_number_float() ? number_text(json.get<double>()) : json.dump();
}

// By key: a JSON number, list, true, false or null stands for itself, anything else is a text; "@NAME" is the run's
// metric NAME, epoch by epoch. It overrides the record.
using MlperfFields = std::map<std::string, std::string>;

struct MlperfLog {
  std::string text;
  std::vector<std::string> missing;      // keys that the rules of MLPerf HPC 3.0 want and the log lacks
  std::vector<std::string> not_printed;  // of init, staging and run: written with other times than the program's
};

class Log {
 public:
  Log(const Run& run, const PrintedPoints& printed, const MlperfFields& fields)
      : run_(run), printed_(printed), fields_(fields) {
    for (const PrintedPoint& one : printed.all()) {
      if (is_placed(one)) series_.insert(one.name);
    }
  }
  MlperfLog write();

 private:
  void add(double time, const char* type, std::string_view key, const std::string& value, std::string metadata = {}) {
    keys_.emplace(key);
    lines_.push_back({time, fmt::format(R"(:::MLLOG {{"namespace": "", "time_ms": {}, "event_type": "{}", "key": {}, )"
                                        R"("value": {}, "metadata": {{{}}}}})",
                                        to_milliseconds(time), type, json_quote(key), value, metadata)});
  }
  void find_intervals();
  void add_head();
  void add_intervals();
  void add_epochs();
  void add_evaluations();
  void add_values();
  void add_points(std::string_view key, std::string_view name);
  [[nodiscard]] bool is_series(std::string_view name) const { return series_.contains(name); }
  [[nodiscard]] std::string status() const;

  const Run& run_;
  const PrintedPoints& printed_;
  const MlperfFields& fields_;
  std::set<std::string_view> series_;        // names that were printed with an epoch or a step
  std::set<std::string, std::less<>> keys_;  // that were written
  Interval init_, run_interval_;
  std::optional<Interval> staging_;
  std::string staging_text_;  // its metadata
  bool run_is_printed_ = false;
  std::vector<std::string> not_printed_;
  std::vector<Line> lines_;
};

// As Python's json module writes it, which MLPerf's own parser reads: bare NaN and Infinity.
std::string value_text(double value) { return number_text(value); }

std::string list_text(const PrintedPoint& point) {
  std::string text;
  for (const double value : point.values) text += (text.empty() ? "" : ", ") + value_text(value);
  return point.is_list ? "[" + text + "]" : text;
}

std::string place_text(const PrintedPoint& point) {
  std::string text;
  if (point.epoch) text = fmt::format("\"epoch_num\": {}", number_text(*point.epoch));
  if (point.step) text += fmt::format("{}\"step_num\": {}", text.empty() ? "" : ", ", *point.step);
  return text;
}

std::string epoch_text(double epoch) { return fmt::format("\"epoch_num\": {}", number_text(epoch)); }

std::string Log::status() const {
  if (const PrintedPoint* const said = printed_.find(run_success))
    return said->values.back() == 1 ? "success" : "aborted";
  const std::string state = run_.record ? run_.record->state : "";
  if (state == "finished" && run_.record->exit.value_or(0) == 0) return "success";
  return state.empty() ? "unknown" : "aborted";
}

// The keys of the whole run, each once. The user's fields come first, then the settings, then the printed values, then
// the record of the machine.
void Log::add_head() {
  std::map<std::string, std::string> values;
  for (const auto& [name, text] : fields_) {
    if (!text.starts_with('@')) values.emplace(name, value_of(text));
  }
  for (const auto& [name, text] : config_of(run_)) values.emplace(name, value_of(text));
  std::map<std::string, double, std::less<>> times;
  for (const PrintedPoint& point : printed_.all()) {
    if (is_placed(point) || is_interval(point.name)) continue;
    if (values.emplace(point.name, list_text(point)).second && std::isfinite(point.time))
      times[point.name] = point.time;
  }
  const auto known = [&](const char* name, const std::string& text, bool is_text) {
    if (!text.empty()) values.emplace(name, is_text ? json_quote(text) : text);
  };
  known("submission_benchmark", recipe_of(run_).name, true);
  for (const auto& [name, value] : machine_of(run_)) {
    if (name == "cpu") known("submission_platform", value, true);
  }
  if (run_.record && run_.record->nodes) known("number_of_nodes", std::to_string(*run_.record->nodes), false);
  for (const auto& [name, value] : values) {
    const auto time = times.find(name);
    if (!is_series(name) || fields_.contains(name))
      add(time == times.end() ? init_.begin : time->second, point, name, value);
  }
}

// Intervals that the program printed are kept. Of the record, a fetch is no staging: only moving data next to the job
// is. Times of the record follow each other.
void Log::find_intervals() {
  const double first = std::isnan(run_.first_time) ? 0 : run_.first_time;
  const RunRecord none, &record = run_.record ? *run_.record : none;
  const double begin = record.started.value_or(first);
  double at = begin + record.times.fetch.value_or(0);
  const auto staged = record.times.stage;
  if (staged) {
    staging_ = Interval{at, at + *staged};
    staging_text_ = fmt::format("\"staging_duration\": {}", number_text(*staged));
  }
  at += staged.value_or(0) + record.times.verify.value_or(0) + record.times.launch.value_or(0);
  const double end = record.finished.value_or(std::isnan(run_.last_time) ? begin : run_.last_time);

  const auto init = printed_interval(printed_, init_time), staging = printed_interval(printed_, staging_time),
             run = printed_interval(printed_, run_time);
  if (staging) {
    staging_ = staging;
    staging_text_.clear();
  }
  const double launched = init ? init->end : std::max(at, begin);
  run_interval_ = run.value_or(Interval{launched, std::max(end, launched)});
  init_ = init.value_or(Interval{std::min(begin, run_interval_.begin), run_interval_.begin});
  run_is_printed_ = run.has_value();
  if (!init) not_printed_.emplace_back("init");
  if (!staging && staging_) not_printed_.emplace_back("staging");
  if (!run) not_printed_.emplace_back("run");
}

void Log::add_intervals() {
  add(init_.begin, start, "init_start", "null");
  if (staging_) {
    add(staging_->begin, start, "staging_start", "null");
    add(staging_->end, stop, "staging_stop", "null", staging_text_);
  }
  add(init_.end, stop, "init_stop", "null");
  add(run_interval_.begin, start, "run_start", "null");
}

// An epoch ends when its time was printed. If no epoch's time was, it ends with its last value and begins at the end of
// the one before.
void Log::add_epochs() {
  if (run_.by_step) return;
  std::map<double, Interval> epochs;
  if (const Series* const times = run_.find("epoch_time")) {
    for (std::size_t i = 0; i < times->x.size(); ++i) {
      if (std::isnan(times->time[i]) || !(times->y[i] >= 0)) continue;
      const double end = times->time[i], begin = end - times->y[i];
      epochs[times->x[i]] = {run_is_printed_ ? begin : std::min(std::max(begin, run_interval_.begin), end), end};
    }
  } else {
    for (const Series& series : run_.series) {
      for (std::size_t i = 0; i < series.x.size(); ++i) {
        if (std::isnan(series.time[i])) continue;
        double& end = epochs.try_emplace(series.x[i], Interval{0, series.time[i]}).first->second.end;
        end = std::max(end, series.time[i]);
      }
    }
    double before = run_interval_.begin;
    for (auto& [epoch, interval] : epochs) interval.begin = std::min(std::exchange(before, interval.end), interval.end);
  }
  for (const auto& [epoch, interval] : epochs) {
    add(interval.begin, start, "epoch_start", "null", epoch_text(epoch));
    add(interval.end, stop, "epoch_stop", "null", epoch_text(epoch));
  }
}

// The begin of an evaluation is known if the program printed its duration.
void Log::add_evaluations() {
  const Series* const times = run_.find("eval_time");
  if (times == nullptr || run_.by_step) return;
  for (std::size_t i = 0; i < times->x.size(); ++i) {
    if (std::isnan(times->time[i]) || !(times->y[i] >= 0)) continue;
    const std::string epoch = epoch_text(times->x[i]);
    const double begin = times->time[i] - times->y[i];
    add(run_is_printed_ ? begin : std::max(begin, run_interval_.begin), start, "eval_start", "null", epoch);
    add(times->time[i], stop, "eval_stop", "null", epoch);
  }
}

// Writes the values printed as `name` under `key`, with their step if they have one.
void Log::add_points(std::string_view key, std::string_view name) {
  for (const PrintedPoint& one : printed_.all()) {
    if (one.name != name || !is_placed(one)) continue;
    add(std::isnan(one.time) ? run_interval_.begin : one.time, point, key, list_text(one), place_text(one));
  }
}

void Log::add_values() {
  for (const PrintedPoint& one : printed_.all()) {
    if (!is_placed(one) || fields_.contains(one.name) || is_interval(one.name)) continue;
    add(std::isnan(one.time) ? run_interval_.begin : one.time, point, one.name, list_text(one), place_text(one));
  }
  for (const auto& [key, text] : fields_) {
    if (!text.starts_with('@')) continue;
    if (!is_series(text.substr(1))) {
      throw Error(FailureKind::not_found, fmt::format("{} has no metric {}", run_.label, printable(text.substr(1))),
                  verb_text("report") + " RUN shows what it has");
    }
    add_points(key, text.substr(1));
  }
}

MlperfLog Log::write() {
  find_intervals();
  add_intervals();
  add_head();
  add_epochs();
  add_evaluations();
  add_values();
  add(run_interval_.end, stop, "run_stop", "null", fmt::format("\"status\": \"{}\"", status()));
  std::stable_sort(lines_.begin(), lines_.end(), [](const Line& a, const Line& b) { return a.time < b.time; });
  const auto benchmark = fields_.find("submission_benchmark");
  MlperfLog log;
  log.not_printed = std::move(not_printed_);
  for (const Line& line : lines_) log.text += line.text + "\n";
  for (const std::string_view key :
       mlperf_keys(benchmark == fields_.end() ? recipe_of(run_).name : benchmark->second)) {
    if (!keys_.contains(key)) log.missing.emplace_back(key);
  }
  return log;
}

void write_mlperf(std::span<const Run> runs, const ExportOptions& options, ExportSink& sink) {
  const Run& run = runs.front();
  PrintedPoints printed;
  for_each_metric(run.path, options.reader, [&](const Metric& metric) { printed.take(metric); });
  const MlperfLog log = Log(run, printed, options.fields).write();
  sink.write(log.text);
  if (!log.not_printed.empty()) {
    sink.say(fmt::format("the program printed no times of {}: they are {}", fmt::join(log.not_printed, ", "),
                         run.record ? "those of the run's record" : "those of its first and last value"));
  }
  if (log.missing.empty()) return;
  sink.say(fmt::format("a submission to MLPerf HPC wants besides: {} ({} KEY=VALUE)", fmt::join(log.missing, ", "),
                       option_text("set")));
}

}  // namespace

extern constexpr Exporter mlperf_exporter{
    .name = "mlperf", .one_run_only = true, .takes_fields = true, .write = write_mlperf};

}  // namespace sabath
