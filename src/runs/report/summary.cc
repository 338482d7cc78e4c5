#include "report/summary.h"

#include <cmath>
#include <limits>

namespace sabath {
namespace {

Facts facts_of_part(const RunRecord::Document& part) { return part ? facts_of(*part) : Facts{}; }

}  // namespace

Summary summarize(const Series& series) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Summary summary;
  summary.first = series.y.front();
  summary.last = series.y.back();
  summary.least = infinity;
  summary.greatest = -infinity;
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    const double value = series.y[i];
    if (std::isnan(value)) continue;
    if (value < summary.least || summary.count == 0) {
      summary.least = value;
      summary.least_at = series.x[i];
    }
    if (value > summary.greatest || summary.count == 0) {
      summary.greatest = value;
      summary.greatest_at = series.x[i];
    }
    ++summary.count;
    summary.mean += (value - summary.mean) / static_cast<double>(summary.count);
  }
  if (summary.count == 0) summary.least = summary.greatest = summary.mean = std::numeric_limits<double>::quiet_NaN();
  return summary;
}

Facts config_of(const Run& run) { return run.record ? run.record->config : Facts{}; }

Facts machine_of(const Run& run) { return run.record ? facts_of_part(run.record->machine) : Facts{}; }

Facts environment_of(const Run& run) { return run.record ? facts_of_part(run.record->environment) : Facts{}; }

RunRecord::Recipe recipe_of(const Run& run) {
  return run.record && run.record->recipe ? *run.record->recipe : RunRecord::Recipe{};
}

std::vector<RunRecord::Asset> assets_of(const Run& run) {
  return run.record && run.record->assets ? *run.record->assets : std::vector<RunRecord::Asset>{};
}

RunTimes times_of(const Run& run) { return run.record ? run.record->times : RunTimes{}; }

std::string commit_of(const Run& run) {
  return run.record && run.record->source ? run.record->source->commit : std::string{};
}

std::string state_of(const Run& run) {
  if (!run.record) return {};
  return run.record->state == "running" ? "running, or killed" : run.record->state;
}

std::optional<double> duration_of(const Run& run) {
  if (run.record && run.record->started && run.record->finished) return *run.record->finished - *run.record->started;
  const double seconds = run.last_time - run.first_time;
  if (!(seconds > 0)) return std::nullopt;
  return seconds;
}

}  // namespace sabath
