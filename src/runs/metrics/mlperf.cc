// :::MLLOG {...}: only the key counts. Event types are wrong in real logs (staging_stop as INTERVAL_START), seeds are
// numbers or texts, and values are scalars, lists or objects. A pair X_start, X_stop also gives X_time in seconds; the
// stop of the run gives run_success, 1 or 0.
#include <algorithm>

#include "base/number.h"
#include "metrics/formats.h"
#include "metrics/words.h"

namespace sabath {
namespace {

constexpr std::size_t intervals_max = 64;

std::optional<double> digits_of(const JsonLeaf& leaf) {
  if (leaf.kind == JsonLeaf::Kind::number) return leaf.number;
  // A text counts if it is a number in digits: a seed, never an organisation that calls itself Inf.
  if (leaf.kind == JsonLeaf::Kind::text && !leaf.text.empty() &&
      (is_digit(leaf.text.front()) || leaf.text.front() == '-'))
    return try_number(leaf.text);
  return std::nullopt;
}

std::string unescaped(std::string_view text) {
  return text.find('\\') == std::string_view::npos ? std::string(text) : json_unescape(text);
}

void add(const JsonLeaf& leaf, std::string_view key, double value, Reading& reading) {
  const std::string_view name = leaf.inner.empty() ? key : leaf.inner;
  if (leaf.index < 0 && name.find('\\') == std::string_view::npos) {
    reading.add(name, value);
  } else {
    reading.add_made(unescaped(name) + (leaf.index < 0 ? "" : "[" + std::to_string(leaf.index) + "]"), value);
  }
}

struct Event {
  std::string_view key;
  double time_ms = 0;
  std::int64_t instance = 0;
};

// True if this leaf is the position of the line, and not a measured value.
bool take_place(const JsonLeaf& leaf, Reading& reading, Event& event) {
  const auto number = digits_of(leaf);
  if (leaf.inner == "file" || leaf.inner == "lineno" || leaf.inner == "status") return true;
  if (leaf.inner == "instance" || leaf.inner == "instance_id") {
    if (const auto id = try_integer(leaf.text)) event.instance = *id;
    return true;
  }
  const char position = leaf.index < 0 && number ? position_of_name(leaf.inner) : '\0';
  if (position != '\0') reading.place(position, *number, leaf.text);
  return position != '\0';
}

void take_interval(const Event& event, Trace& trace, Reading& reading) {
  const bool start = event.key.ends_with("_start"), stop = event.key.ends_with("_stop");
  if (!start && !stop) return;
  const std::string_view base = event.key.substr(0, event.key.rfind('_'));
  auto& intervals = trace.intervals;
  const auto open = std::find_if(intervals.begin(), intervals.end(), [&](const Trace::Interval& interval) {
    return interval.name == base && interval.instance == event.instance;
  });
  if (stop) {
    if (open == intervals.end()) return;
    if (!reading.epoch) reading.epoch = open->epoch;
    reading.add_made(std::string(base) + "_time", (event.time_ms - open->begin_ms) / 1000);
    intervals.erase(open);
  } else if (open != intervals.end()) {
    open->begin_ms = event.time_ms;
    open->epoch = reading.epoch;
  } else if (intervals.size() < intervals_max) {
    intervals.push_back({std::string(base), event.time_ms, reading.epoch, event.instance});
  }
}

void read_mlperf(std::string_view /*object*/, Trace& trace, Reading& reading) {
  const auto& leaves = reading.leaves;
  Event event;
  for (const JsonLeaf& leaf : leaves) {
    if (leaf.outer == "key" && leaf.kind == JsonLeaf::Kind::text) event.key = leaf.text;
  }
  if (event.key.empty()) return;
  bool has_time = false;
  for (const JsonLeaf& leaf : leaves) {
    const auto number = digits_of(leaf);
    if (leaf.outer == "time_ms" && number) {
      event.time_ms = *number;
      has_time = true;
      reading.time = *number / 1000;
    } else {
      if (event.key == "run_stop" && leaf.inner == "status") reading.add("run_success", leaf.text == "success" ? 1 : 0);
      const bool extra = leaf.outer == "metadata" && !leaf.inner.empty() && !take_place(leaf, reading, event);
      if (number && (extra || leaf.outer == "value")) add(leaf, event.key, *number, reading);
    }
  }
  if (has_time) take_interval(event, trace, reading);
  reading.kind = reading.values.empty() ? Reading::Kind::state : Reading::Kind::values;
}

}  // namespace

extern constexpr LogFormat mlperf_format{.name = "mlperf", .title = "MLPerf", .read = read_mlperf, .mark = ":::MLLOG"};

}  // namespace sabath
