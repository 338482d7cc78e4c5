#include "report/comparison.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "report/roles.h"
#include "report/summary.h"

namespace sabath {
namespace {

using Sameness = RunComparison::Sameness;

std::vector<FactDifference> differences(const Facts& a, const Facts& b) {
  std::map<std::string, std::pair<std::string, std::string>> both;
  for (const auto& [name, value] : a) both[name].first = value;
  for (const auto& [name, value] : b) both[name].second = value;
  std::vector<FactDifference> found;
  for (const auto& [name, values] : both) {
    if (values.first != values.second) found.push_back({name, values.first, values.second});
  }
  return found;
}

// The root of each asset, by kind and name: of the code, or of everything else.
Facts roots(const Run& run, bool of_code) {
  Facts facts;
  for (const RunRecord::Asset& asset : assets_of(run)) {
    const bool is_code = asset.kind == "model" || asset.kind == "workflow";
    if (is_code == of_code) facts.emplace_back(asset.kind + " " + asset.name, asset.manifest);
  }
  return facts;
}

// A root that was not compared with the bytes tells what the run should have read, not what it read.
bool is_verified(const Run& run) {
  return std::ranges::none_of(
      assets_of(run), [](const RunRecord::Asset& asset) { return asset.verified_by.starts_with("not verified"); });
}

Facts code(const Run& run) {
  Facts facts = roots(run, true);
  const RunRecord::Recipe recipe = recipe_of(run);
  const Facts more{{"recipe name", recipe.name}, {"recipe digest", recipe.digest}, {"source commit", commit_of(run)}};
  std::ranges::copy_if(more, std::back_inserter(facts), [](const auto& fact) { return !fact.second.empty(); });
  return facts;
}

Sameness sameness(const Facts& a, const Facts& b, const std::vector<FactDifference>& found) {
  const auto known = [](const Facts& facts) {
    return !facts.empty() &&
           std::none_of(facts.begin(), facts.end(), [](const auto& one) { return one.second.empty(); });
  };
  if (!found.empty()) return Sameness::different;
  return known(a) && known(b) ? Sameness::same : Sameness::unknown;
}

double relative_difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double size = std::max(std::abs(a), std::abs(b));
  if (!std::isfinite(size)) return std::numeric_limits<double>::infinity();
  return std::abs(a / size - b / size);
}

// One log counts epochs from 0, another from 1: they are matched by their first ones.
double shift_of(const Run& a, const Run& b) {
  const auto first = [](const Run& run) {
    double least = std::numeric_limits<double>::infinity();
    for (const Series& series : run.series) least = std::min(least, series.x.front());
    return least;
  };
  const double shift = first(b) - first(a);
  return std::abs(shift) == 1 && std::min(first(a), first(b)) == 0 ? shift : 0;
}

MetricDifference compare_series(const Series& a, const Series& b, double shift, double tolerance) {
  MetricDifference difference;
  difference.name = a.name;
  for (std::size_t i = 0, j = 0; i < a.x.size() && j < b.x.size();) {
    const double x = b.x[j] - shift;
    if (a.x[i] < x) {
      ++i;
    } else if (x < a.x[i]) {
      ++j;
    } else {
      const double relative = relative_difference(a.y[i], b.y[j]);
      if (relative > difference.greatest || difference.common == 0) {
        difference.greatest = relative;
        difference.greatest_at = a.x[i];
      }
      difference.last_a = a.y[i++];
      difference.last_b = b.y[j++];
      ++difference.common;
    }
  }
  difference.within = difference.common > 0 && difference.greatest <= tolerance;
  return difference;
}

bool is_result(const std::string& name) {
  return role_of(name) != Role::time && name != "iterations_per_second" && name != "throughput";
}

void compare_facts(const Run& a, const Run& b, RunComparison& found) {
  found.data_differences = differences(roots(a, false), roots(b, false));
  found.data = sameness(roots(a, false), roots(b, false), found.data_differences);
  if (found.data == Sameness::same && !(is_verified(a) && is_verified(b))) found.data = Sameness::unknown;
  found.code_differences = differences(code(a), code(b));
  found.code = sameness(code(a), code(b), found.code_differences);
  found.config = differences(config_of(a), config_of(b));
  found.environment = differences(environment_of(a), environment_of(b));
  found.machine = differences(machine_of(a), machine_of(b));
}

}  // namespace

bool RunComparison::within() const {
  return !metrics.empty() && std::all_of(metrics.begin(), metrics.end(), [](const auto& one) { return one.within; });
}

RunComparison compare_runs(const Run& a, const Run& b, const std::vector<std::string>& names, double tolerance) {
  RunComparison found;
  if (a.record && b.record) compare_facts(a, b, found);  // a plain log has no facts
  if (a.series.empty() || b.series.empty()) return found;
  found.epoch_shift = shift_of(a, b);
  const auto wanted = [&](const std::string& name) {
    return names.empty() ? is_result(name) : std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const Series& series : a.series) {
    if (!wanted(series.name)) continue;
    if (const Series* const other = b.find(series.name)) {
      found.metrics.push_back(compare_series(series, *other, found.epoch_shift, tolerance));
    } else {
      found.only_a.push_back(series.name);
    }
  }
  for (const Series& series : b.series) {
    if (wanted(series.name) && a.find(series.name) == nullptr) found.only_b.push_back(series.name);
  }
  return found;
}

}  // namespace sabath
