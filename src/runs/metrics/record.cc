#include "metrics/record.h"

#include <fmt/format.h>

#include <cmath>

#include "base/number.h"
#include "metrics/json_scan.h"

namespace sabath {
namespace {

std::string time_text(const Metric& metric, std::string_view absent) {
  return std::isfinite(metric.time) ? number_text(metric.time) : std::string(absent);
}

template <typename T>
std::string text_or(const std::optional<T>& value, std::string_view absent) {
  return value ? fmt::format("{}", *value) : std::string(absent);
}

bool take(const JsonLeaf& leaf, Metric& metric, bool& has_name, bool& has_value) {
  const bool number = leaf.kind == JsonLeaf::Kind::number;
  if (leaf.outer == "name" && leaf.kind == JsonLeaf::Kind::text) {
    metric.name = json_unescape(leaf.text);
    has_name = true;
  } else if (leaf.outer == "value" && (number || leaf.kind == JsonLeaf::Kind::text)) {
    const auto value = try_number(leaf.text);
    if (!value) return false;
    metric.value = *value;
    has_value = true;
  } else if (number && leaf.outer == "time") {
    metric.time = leaf.number;
  } else if (number && leaf.outer == "epoch" && std::isfinite(leaf.number)) {
    metric.epoch = leaf.number;
  } else if (number && leaf.outer == "step") {
    metric.step = try_integer(leaf.text);
  } else if (number && leaf.outer == "rank") {
    if (const auto rank = try_integer(leaf.text); rank && *rank >= 0 && *rank <= 0x7fffffff)
      metric.rank = static_cast<int>(*rank);
  }
  return true;
}

}  // namespace

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return fmt::format("{}", value);
}

std::string number_json(double value) {
  return std::isfinite(value) ? number_text(value) : fmt::format("\"{}\"", number_text(value));
}

std::string metric_json(const Metric& metric) {
  return fmt::format(R"({{"time":{},"epoch":{},"step":{},"rank":{},"name":{},"value":{}}})", time_text(metric, "null"),
                     metric.epoch ? number_json(*metric.epoch) : "null", text_or(metric.step, "null"),
                     text_or(metric.rank, "null"), json_quote(metric.name), number_json(metric.value));
}

std::optional<Metric> try_metric_json(std::string_view line) {
  std::vector<JsonLeaf> leaves;
  if (!scan_json_object(line, leaves)) return std::nullopt;
  Metric metric;
  bool has_name = false, has_value = false;
  for (const JsonLeaf& leaf : leaves) {
    if (leaf.index < 0 && leaf.inner.empty() && !take(leaf, metric, has_name, has_value)) return std::nullopt;
  }
  if (!has_name || !has_value) return std::nullopt;
  return metric;
}

// Spreadsheets take a text that begins like this for a formula, also in quotes; with an apostrophe it is a text.
std::string csv_cell(std::string_view text) {
  constexpr std::string_view begins_formula = "=+-@\t\r\n";
  const std::string_view mark = !text.empty() && begins_formula.find(text.front()) != text.npos ? "'" : "";
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return fmt::format("{}{}", mark, text);
  std::string cell = fmt::format("\"{}", mark);
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

std::string metric_csv(const Metric& metric) {
  return fmt::format("{},{},{},{},{},{}", time_text(metric, ""), metric.epoch ? number_text(*metric.epoch) : "",
                     text_or(metric.step, ""), text_or(metric.rank, ""), csv_cell(metric.name),
                     number_text(metric.value));
}

}  // namespace sabath
