#include "report/json_report.h"

#include <nlohmann/json.hpp>

#include "report/exporter.h"
#include "report/reported_fields.h"
#include "report/summary.h"

namespace sabath {
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

namespace {

Json document(const std::string& text) { return text.empty() ? Json() : Json::parse(text); }

}  // namespace

Json reported_recipe(const ReportedRun& run) { return document(run.recipe); }
Json reported_assets(const ReportedRun& run) { return document(run.assets); }

namespace {

void write_json(std::span<const Run> runs, const ExportOptions& /*options*/, ExportSink& sink) {
  Json records = Json::array();
  for (const Run& run : runs) records.push_back(element_json(reported_run(run)));
  sink.write(Json{{"schema", 1}, {"runs", std::move(records)}}.dump(1) + "\n");
}

}  // namespace

extern constexpr Exporter json_exporter{.name = "json", .endings = {".json"}, .write = write_json};

}  // namespace sabath
