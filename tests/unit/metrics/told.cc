#include "told.h"

#include <fmt/format.h>

#include <algorithm>

namespace sabath {

std::string line_of(const Metric& metric) {
  std::string line;
  if (metric.epoch) line += fmt::format("e{} ", *metric.epoch);
  if (metric.step) line += fmt::format("s{} ", *metric.step);
  if (metric.rank) line += fmt::format("r{} ", *metric.rank);
  return line + fmt::format("{}={}", metric.name, metric.value);
}

Lines told(std::string_view text, MetricReaderOptions options, std::size_t piece) {
  Lines lines;
  MetricReader reader(std::move(options), [&](const Metric& metric) { lines.push_back(line_of(metric)); });
  if (piece == 0) piece = std::max<std::size_t>(1, text.size());
  for (std::size_t at = 0; at < text.size(); at += piece) reader.feed(text.substr(at, piece), 1000);
  reader.finish();
  return lines;
}

std::vector<Metric> metrics_of(std::string_view text, MetricReaderOptions options) {
  std::vector<Metric> metrics;
  MetricReader reader(std::move(options), [&](const Metric& metric) { metrics.push_back(metric); });
  reader.feed(text, 1000);
  reader.finish();
  return metrics;
}

}  // namespace sabath
