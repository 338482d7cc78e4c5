#include "report/mlperf_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "metrics/json_scan.h"
#include "metrics/record.h"
#include "report/summary.h"

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

// As Python's json module writes it, which MLPerf's own parser reads: bare NaN and Infinity.
std::string value_text(double value) { return number_text(value); }

class Log {
 public:
  explicit Log(const Run& run) : run_(run) {}
  std::string write();

 private:
  void add(double time, const char* type, std::string_view key, const std::string& value, std::string metadata = {}) {
    lines_.push_back({time, fmt::format(R"(:::MLLOG {{"namespace": "", "time_ms": {}, "event_type": "{}", "key": {}, )"
                                        R"("value": {}, "metadata": {{{}}}}})",
                                        static_cast<std::int64_t>(std::llround(time * 1000)), type, json_quote(key),
                                        value, metadata)});
  }
  void add_head();
  void add_intervals();
  void add_epochs();
  void add_values();
  [[nodiscard]] std::string status() const;

  const Run& run_;
  double begin_ = 0, run_start_ = 0, run_stop_ = 0;
  std::vector<Line> lines_;
};

std::string epoch_text(double epoch) { return fmt::format("\"epoch_num\": {}", number_text(epoch)); }

std::string Log::status() const {
  const std::string state = fact(run_, "state"), code = fact(run_, "exit");
  if (state == "finished" && (code.empty() || code == "0")) return "success";
  return state.empty() ? "unknown" : "aborted";
}

void Log::add_head() {
  for (const auto& [key, value] :
       {std::pair<const char*, std::string>{"submission_benchmark", fact(run_, "recipe", "name")},
        {"submission_platform", fact(run_, "machine", "cpu")}}) {
    if (!value.empty()) add(begin_, point, key, json_quote(value));
  }
  for (const auto& [name, text] : facts_of(run_, "config")) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const bool whole = !text.empty() && *end == '\0';
    add(begin_, point, name, whole ? value_text(number) : json_quote(text));
  }
  for (const auto& [name, value] : run_.figures) add(run_stop_, point, name, value_text(value));
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
    add(begin, start, "epoch_start", "null", epoch_text(epoch));
    add(end, stop, "epoch_stop", "null", epoch_text(epoch));
    before = end;
  }
}

void Log::add_values() {
  for (const Series& series : run_.series) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const double time = std::isnan(series.time[i]) ? run_start_ : series.time[i];
      const std::string place =
          run_.by_step ? fmt::format("\"step_num\": {}", number_text(series.x[i])) : epoch_text(series.x[i]);
      add(time, point, series.name, value_text(series.y[i]), place);
    }
  }
}

std::string Log::write() {
  const double first = std::isnan(run_.first_time) ? 0 : run_.first_time;
  begin_ = number_of(run_, "started").value_or(first);
  run_stop_ = number_of(run_, "finished").value_or(std::isnan(run_.last_time) ? begin_ : run_.last_time);
  add_intervals();
  add_head();
  add_epochs();
  add_values();
  add(std::max(run_stop_, run_start_), stop, "run_stop", "null", fmt::format("\"status\": \"{}\"", status()));
  std::stable_sort(lines_.begin(), lines_.end(), [](const Line& a, const Line& b) { return a.time < b.time; });
  std::string out;
  for (const Line& line : lines_) out += line.text + "\n";
  return out;
}

}  // namespace

std::string mlperf_log(const Run& run) { return Log(run).write(); }

}  // namespace sabath
