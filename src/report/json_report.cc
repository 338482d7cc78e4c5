#include "report/json_report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "metrics/record.h"
#include "report/exporter.h"
#include "report/summary.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;

Json numbers(const std::vector<double>& values) {
  Json array = Json::array();
  for (const double value : values) array.push_back(json_number(value));
  return array;
}

Json text(const std::string& text) { return printable(text, 1 << 16); }

Json parsed(const std::string& text) { return text.empty() ? Json(nullptr) : Json::parse(text); }

}  // namespace

Json json_number(double value) {
  if (!std::isfinite(value)) return number_text(value);
  constexpr double exact_max = 9007199254740992.0;
  // Whole numbers as such: an epoch is 3, not 3.0.
  if (std::trunc(value) == value && std::abs(value) < exact_max) return static_cast<std::int64_t>(value);
  return value;
}

ReportedRun reported_run(Run run) {
  ReportedRun reported;
  if (run.record) {
    reported.state = run.record->state;
    reported.exit = run.record->exit;
    if (run.record->recipe) reported.recipe = to_json(*run.record->recipe).dump();
    if (run.record->assets) reported.assets = to_json(*run.record->assets).dump();
  }
  reported.seconds = duration_of(run);
  reported.label = std::move(run.label);
  reported.path = std::move(run.path);
  reported.by_step = run.by_step;
  reported.values = run.metrics;
  reported.not_understood = run.not_understood;
  reported.too_large = run.too_large;
  for (Series& series : run.series) {
    const Summary summary = summarize(series);
    reported.series.push_back({std::move(series.name), std::move(series.x), std::move(series.y), summary.first,
                               summary.last, summary.least, summary.greatest, summary.mean});
  }
  reported.figures = std::move(run.figures);
  return reported;
}

Json json_report(const ReportedRun& run) {
  Json metrics = Json::array(), figures = Json::object();
  for (const ReportedSeries& series : run.series) {
    metrics.push_back(Json{{"name", text(series.name)},
                           {"x", numbers(series.x)},
                           {"y", numbers(series.y)},
                           {"first", json_number(series.first)},
                           {"last", json_number(series.last)},
                           {"min", json_number(series.least)},
                           {"max", json_number(series.greatest)},
                           {"mean", json_number(series.mean)}});
  }
  for (const auto& [name, value] : run.figures) figures[printable(name, 1 << 16)] = json_number(value);
  return Json{{"run", text(run.label)},
              {"path", text(run.path.string())},
              {"state", run.state.empty() ? Json(nullptr) : Json(run.state)},
              {"exit", run.exit ? Json(*run.exit) : Json(nullptr)},
              {"seconds", run.seconds ? json_number(*run.seconds) : Json(nullptr)},
              {"recipe", parsed(run.recipe)},
              {"assets", parsed(run.assets)},
              {"by", run.by_step ? "step" : "epoch"},
              {"values", run.values},
              {"not_understood", run.not_understood},
              {"metrics", run.too_large ? Json(nullptr) : std::move(metrics)},
              {"figures", run.too_large ? Json(nullptr) : std::move(figures)}};
}

Json json_report(std::span<const Run> runs) {
  Json records = Json::array();
  for (const Run& run : runs) records.push_back(json_report(reported_run(run)));
  return Json{{"schema", 1}, {"runs", std::move(records)}};
}

namespace {

void write_json(std::span<const Run> runs, const ExportOptions& /*options*/, ExportSink& sink) {
  sink.write(json_report(runs).dump(1) + "\n");
}

}  // namespace

extern constexpr Exporter json_exporter{.name = "json", .endings = {".json"}, .write = write_json};

}  // namespace sabath
