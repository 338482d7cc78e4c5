#include "sabath/verbs/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "metrics/formats.h"
#include "metrics/reader.h"
#include "report/run.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/verb.h"

namespace sabath {

MetricsRecord for_each_metric(const MetricsRequest& request, const std::function<void(const Metric&)>& take) {
  MetricReaderOptions options;
  options.patterns = request.patterns;
  options.only = request.format;
  const MetricReaderCounts counts = for_each_metric(request.path, options, [&](const Metric& metric) {
    const bool wanted = request.names.empty() || std::ranges::find(request.names, metric.name) != request.names.end();
    if (wanted) take(metric);
  });
  MetricsRecord record;
  record.path = request.path;
  record.bytes = counts.bytes;
  record.lines = counts.lines;
  record.lines_too_long = counts.lines_too_long;
  record.malformed = counts.malformed;
  record.not_understood = counts.not_understood;
  record.first_not_understood = counts.first_not_understood;
  record.not_understood_line = counts.not_understood_line;
  return record;
}

MetricsRecord read_metrics(Session&, const MetricsRequest& request, EventSink&, std::stop_token stop) {
  std::vector<Metric> metrics;
  MetricsRecord record = for_each_metric(request, [&](const Metric& metric) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped while metrics were read");
    if (metrics.size() == metrics_in_record_max) {
      throw Error(FailureKind::invalid,
                  fmt::format("{} tells more than {} values", printable(request.path.string(), 4096), metrics.size()),
                  "name the metrics that are wanted, or take them one by one");
    }
    metrics.push_back(metric);
  });
  record.metrics = std::move(metrics);
  return record;
}

std::vector<std::string> metric_formats() {
  std::vector<std::string> names;
  for (const LogFormat* const format : log_formats()) names.emplace_back(format->name);
  return names;
}

template <>
struct Described<Metric> {
  using Of = Metric;
  static std::optional<double> known_time(const Metric& metric) {
    return std::isfinite(metric.time) ? std::optional(metric.time) : std::nullopt;
  }
  static constexpr Field table[] = {
      SABATH_VALUE("time", known_time, .help = "since 1970, by the log's own clock where it has one", .unit = "seconds",
                   .any_number = true),
      SABATH_FIELD(epoch, .help = "as the log counts; null: of no epoch", .any_number = true),
      SABATH_FIELD(step, .help = "batch or iteration, as the log counts"),
      SABATH_FIELD(rank, .help = "from the line's prefix, else the stream's"),
      SABATH_FIELD(name, .help = "as the log calls it"),
      SABATH_FIELD(value, .help = "what was measured", .any_number = true),
  };
};

template <>
struct Described<MetricsRequest> {
  using Of = MetricsRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(path, .help = "a log, a CSV or JSON-lines file, or a run's directory", .required = true,
                   .argument = "LOG"),
      SABATH_FIELD_AS("pattern", patterns, .help = "read lines that match, by named groups (RE2)", .value = "REGEX"),
      SABATH_FIELD(format, .help = "look for this one only (default: every one)", .value = "NAME"),
      SABATH_FIELD_AS("metric", names, .help = "take this one (default: all)", .value = "NAME"),
  };
};

template <>
struct Described<MetricsRecord> {
  using Of = MetricsRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(path, .help = "what was read"),
      SABATH_FIELD(metrics, .help = "in the order in which they were given"),
      SABATH_FIELD(bytes, .help = "read", .unit = "bytes"),
      SABATH_FIELD(lines, .help = "read", .unit = "lines"),
      SABATH_FIELD(lines_too_long, .help = "skipped", .unit = "lines"),
      SABATH_FIELD(malformed, .help = "began like a record of a format and were none", .unit = "lines"),
      SABATH_FIELD(not_understood, .help = "look like metrics and are none", .unit = "lines"),
      SABATH_FIELD(first_not_understood, .help = "the number of the first such line, from 1; 0: there is none"),
      SABATH_FIELD(not_understood_line, .help = "the beginning of that line", .null_if_empty = true),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const MetricsRecord& record) { return record_text(record); }

extern constexpr LibraryVerb metrics_call = described<read_metrics>("metrics");

}  // namespace sabath
