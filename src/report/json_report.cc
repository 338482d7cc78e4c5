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

}  // namespace

Json json_number(double value) {
  if (!std::isfinite(value)) return number_text(value);
  constexpr double exact_max = 9007199254740992.0;
  // Whole numbers as such: an epoch is 3, not 3.0.
  if (std::trunc(value) == value && std::abs(value) < exact_max) return static_cast<std::int64_t>(value);
  return value;
}

Json json_report(const Run& run) {
  Json metrics = Json::array(), figures = Json::object();
  for (const Series& series : run.series) {
    const Summary summary = summarize(series);
    metrics.push_back(Json{{"name", text(series.name)},
                           {"x", numbers(series.x)},
                           {"y", numbers(series.y)},
                           {"first", json_number(summary.first)},
                           {"last", json_number(summary.last)},
                           {"min", json_number(summary.least)},
                           {"max", json_number(summary.greatest)},
                           {"mean", json_number(summary.mean)}});
  }
  for (const auto& [name, value] : run.figures) figures[printable(name, 1 << 16)] = json_number(value);
  const auto seconds = duration_of(run);
  const RunRecord none, &record = run.record ? *run.record : none;
  return Json{{"run", text(run.label)},
              {"path", text(run.path.string())},
              {"state", record.state.empty() ? Json(nullptr) : Json(record.state)},
              {"exit", record.exit ? Json(*record.exit) : Json(nullptr)},
              {"seconds", seconds ? json_number(*seconds) : Json(nullptr)},
              {"recipe", record.recipe ? to_json(*record.recipe) : Json(nullptr)},
              {"assets", record.assets ? to_json(*record.assets) : Json(nullptr)},
              {"by", run.by_step ? "step" : "epoch"},
              {"values", run.metrics},
              {"not_understood", run.not_understood},
              {"metrics", std::move(metrics)},
              {"figures", std::move(figures)}};
}

Json json_report(std::span<const Run> runs) {
  Json records = Json::array();
  for (const Run& run : runs) records.push_back(json_report(run));
  return Json{{"schema", 1}, {"runs", std::move(records)}};
}

namespace {

void write_json(std::span<const Run> runs, const ExportOptions& /*options*/, ExportSink& sink) {
  sink.write(json_report(runs).dump(1) + "\n");
}

}  // namespace

extern constexpr Exporter json_exporter{.name = "json", .endings = {".json"}, .write = write_json};

}  // namespace sabath
