#include "sabath/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "metrics/formats.h"
#include "metrics/reader.h"
#include "metrics/record.h"
#include "report/run.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/records.h"
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

Json json_of(const MetricsRecord& record) {
  Json metrics = Json::array();
  for (const Metric& metric : record.metrics) metrics.push_back(Json::parse(metric_json(metric)));
  return {{"schema", 1},
          {"path", record.path.string()},
          {"metrics", std::move(metrics)},
          {"bytes", record.bytes},
          {"lines", record.lines},
          {"lines_too_long", record.lines_too_long},
          {"malformed", record.malformed},
          {"not_understood", record.not_understood},
          {"first_not_understood", record.first_not_understood},
          {"not_understood_line", text_or_null(record.not_understood_line)},
          {"exit", record.exit}};
}

std::string to_json(const MetricsRecord& record) { return text_of(json_of(record)); }

Json call_metrics(Session& session, JsonObject& asked, EventSink& events, std::stop_token stop) {
  MetricsRequest request;
  request.path = asked.text("path");
  request.patterns = asked.texts("pattern");
  request.format = asked.try_text("format").value_or("");
  request.names = asked.texts("metric");
  asked.finish();
  return json_of(read_metrics(session, request, events, std::move(stop)));
}

}  // namespace sabath
