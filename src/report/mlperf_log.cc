#include "report/mlperf_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/clock.h"
#include "metrics/json_scan.h"
#include "metrics/record.h"
#include "report/mlperf_rules.h"
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

std::optional<double> number_of(const Run& run, const std::string& part, const std::string& key = {}) {
  const std::string text = fact(run, part, key);
  if (text.empty()) return std::nullopt;
  return std::strtod(text.c_str(), nullptr);
}

// A text, or what it is as JSON: a number, true, false, null, a list of these.
std::string value_of(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded() || json.is_string() || json.is_object()) return json_quote(text);
  return json.is_number_float() ? number_text(json.get<double>()) : json.dump();
}

// As Python's json module writes it, which MLPerf's own parser reads: bare NaN and Infinity.
std::string value_text(double value) { return number_text(value); }

class Log {
 public:
  Log(const Run& run, const MlperfFields& fields) : run_(run), fields_(fields) {}
  MlperfLog write();

 private:
  void add(double time, const char* type, std::string_view key, const std::string& value, std::string metadata = {}) {
    keys_.emplace(key);
    lines_.push_back({time, fmt::format(R"(:::MLLOG {{"namespace": "", "time_ms": {}, "event_type": "{}", "key": {}, )"
                                        R"("value": {}, "metadata": {{{}}}}})",
                                        to_milliseconds(time), type, json_quote(key), value, metadata)});
  }
  void add_head();
  void add_intervals();
  void add_epochs();
  void add_evaluations();
  void add_values();
  void add_series(std::string_view key, const Series& series);
  [[nodiscard]] std::string status() const;

  const Run& run_;
  const MlperfFields& fields_;
  std::set<std::string, std::less<>> keys_;  // that were written
  double begin_ = 0, run_start_ = 0, run_stop_ = 0;
  std::vector<Line> lines_;
};

std::string epoch_text(double epoch) { return fmt::format("\"epoch_num\": {}", number_text(epoch)); }

std::string Log::status() const {
  const std::string state = fact(run_, "state"), code = fact(run_, "exit");
  if (state == "finished" && (code.empty() || code == "0")) return "success";
  return state.empty() ? "unknown" : "aborted";
}

// What holds for the whole run, each once: as its author says, else as it was set, else as it was printed, else as the
// machine was.
void Log::add_head() {
  std::map<std::string, std::string> values;
  for (const auto& [name, text] : fields_) {
    if (!text.starts_with('@')) values.emplace(name, value_of(text));
  }
  for (const auto& [name, text] : facts_of(run_, "config")) values.emplace(name, value_of(text));
  for (const auto& [name, value] : run_.figures) values.emplace(name, value_text(value));
  const auto known = [&](const char* name, const std::string& text, bool is_text) {
    if (!text.empty()) values.emplace(name, is_text ? json_quote(text) : text);
  };
  known("submission_benchmark", fact(run_, "recipe", "name"), true);
  known("submission_platform", fact(run_, "machine", "cpu"), true);
  known("number_of_nodes", fact(run_, "nodes"), false);
  for (const auto& [name, value] : values) {
    if (run_.find(name) == nullptr || fields_.contains(name)) add(begin_, point, name, value);
  }
}

// Fetch is not staging: what moves data next to the job is. Times without an order of their own follow each other.
void Log::add_intervals() {
  add(begin_, start, "init_start", "null");
  double at = begin_ + number_of(run_, "times", "fetch").value_or(0);
  if (const auto staging = number_of(run_, "times", "stage")) {
    add(at, start, "staging_start", "null");
    at += *staging;
    add(at, stop, "staging_stop", "null", fmt::format("\"staging_duration\": {}", number_text(*staging)));
  }
  at += number_of(run_, "times", "verify").value_or(0) + number_of(run_, "times", "launch").value_or(0);
  run_start_ = std::max(at, begin_);
  add(run_start_, stop, "init_stop", "null");
  add(run_start_, start, "run_start", "null");
}

// An epoch ends with its last value, and began its time earlier, or when the one before ended.
void Log::add_epochs() {
  if (run_.by_step) return;
  std::map<double, double> ends;
  for (const Series& series : run_.series) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (std::isnan(series.time[i])) continue;
      double& end = ends.try_emplace(series.x[i], series.time[i]).first->second;
      end = std::max(end, series.time[i]);
    }
  }
  const Series* const times = run_.find("epoch_time");
  double before = run_start_;
  for (const auto& [epoch, end] : ends) {
    double begin = std::min(before, end);
    if (times != nullptr) {
      const auto found = std::lower_bound(times->x.begin(), times->x.end(), epoch);
      const auto index = static_cast<std::size_t>(found - times->x.begin());
      if (found != times->x.end() && *found == epoch && times->y[index] >= 0) begin = end - times->y[index];
    }
    begin = std::min(std::max(begin, run_start_), end);
    add(begin, start, "epoch_start", "null", epoch_text(epoch));
    add(end, stop, "epoch_stop", "null", epoch_text(epoch));
    before = end;
  }
}

// When an evaluation began is known where the program said how long it took.
void Log::add_evaluations() {
  const Series* const times = run_.find("eval_time");
  if (times == nullptr || run_.by_step) return;
  for (std::size_t i = 0; i < times->x.size(); ++i) {
    if (std::isnan(times->time[i]) || !(times->y[i] >= 0)) continue;
    const std::string epoch = epoch_text(times->x[i]);
    add(std::max(times->time[i] - times->y[i], run_start_), start, "eval_start", "null", epoch);
    add(times->time[i], stop, "eval_stop", "null", epoch);
  }
}

void Log::add_series(std::string_view key, const Series& series) {
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double time = std::isnan(series.time[i]) ? run_start_ : series.time[i];
    const std::string place =
        run_.by_step ? fmt::format("\"step_num\": {}", number_text(series.x[i])) : epoch_text(series.x[i]);
    add(time, point, key, value_text(series.y[i]), place);
  }
}

void Log::add_values() {
  for (const Series& series : run_.series) {
    if (!fields_.contains(series.name)) add_series(series.name, series);
  }
  for (const auto& [key, text] : fields_) {
    if (!text.starts_with('@')) continue;
    const Series* const series = run_.find(text.substr(1));
    if (series == nullptr) {
      throw Error(FailureKind::not_found, fmt::format("{} has no metric {}", run_.label, printable(text.substr(1))),
                  "sabath report RUN shows what it has");
    }
    add_series(key, *series);
  }
}

MlperfLog Log::write() {
  const double first = std::isnan(run_.first_time) ? 0 : run_.first_time;
  begin_ = number_of(run_, "started").value_or(first);
  run_stop_ = number_of(run_, "finished").value_or(std::isnan(run_.last_time) ? begin_ : run_.last_time);
  add_intervals();
  add_head();
  add_epochs();
  add_evaluations();
  add_values();
  add(std::max(run_stop_, run_start_), stop, "run_stop", "null", fmt::format("\"status\": \"{}\"", status()));
  std::stable_sort(lines_.begin(), lines_.end(), [](const Line& a, const Line& b) { return a.time < b.time; });
  const auto benchmark = fields_.find("submission_benchmark");
  MlperfLog log;
  for (const Line& line : lines_) log.text += line.text + "\n";
  for (const std::string_view key :
       mlperf_keys(benchmark == fields_.end() ? fact(run_, "recipe", "name") : benchmark->second)) {
    if (!keys_.contains(key)) log.missing.emplace_back(key);
  }
  return log;
}

}  // namespace

MlperfLog mlperf_log(const Run& run, const MlperfFields& fields) { return Log(run, fields).write(); }

}  // namespace sabath
