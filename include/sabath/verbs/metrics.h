// Metrics of training programs, as values: from a log, a CSV, a JSON-lines file, or a run's directory. docs/metrics.md
// says what is read. Throws Error{not_found} if there is nothing to read, Error{invalid} for a pattern that makes no
// sense, a format that there is not, or more values than a record holds, Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"
#include "sabath/metric.h"

namespace sabath {

class Session;

struct MetricsRequest {
  std::filesystem::path path;
  std::vector<std::string> patterns;  // regular expressions (RE2) with named groups, tried before every format
  std::string format;                 // the only one that is looked for; empty: every one
  std::vector<std::string> names;     // these metrics only; empty: all
};

inline constexpr std::size_t metrics_in_record_max = 1'000'000;

struct MetricsRecord {
  std::filesystem::path path;
  std::vector<Metric> metrics;  // in the order in which they were told
  std::uint64_t bytes = 0, lines = 0;
  std::uint64_t lines_too_long = 0, malformed = 0;  // skipped; began like a record of a format and is none
  std::uint64_t not_understood = 0;                 // lines that look like metrics and are none
  std::uint64_t first_not_understood = 0;           // its number, from 1
  std::string not_understood_line;                  // the first one, at most 160 bytes of it
  int exit = 0;
};

[[nodiscard]] MetricsRecord read_metrics(Session& session, const MetricsRequest& request, EventSink& events,
                                         std::stop_token stop = {});
[[nodiscard]] std::string to_json(const MetricsRecord& record);

// One after the other, in little memory, however many there are. The record has all but the metrics. Any thread; what
// `take` throws passes through.
MetricsRecord for_each_metric(const MetricsRequest& request, const std::function<void(const Metric&)>& take);

[[nodiscard]] std::vector<std::string> metric_formats();  // their names, in the order in which they are tried

}  // namespace sabath
