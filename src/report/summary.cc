#include "report/summary.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "metrics/record.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;
constexpr int depth_max = 8;

std::string text_of(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return number_text(value.get<double>());
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void flatten(const Json& value, const std::string& name, int depth, Facts& facts) {
  if (value.is_object() && depth < depth_max) {
    for (const auto& [key, inner] : value.items())
      flatten(inner, name.empty() ? key : name + "." + key, depth + 1, facts);
  } else {
    facts.emplace_back(name, text_of(value));
  }
}

const Json* part_of(const Run& run, const std::string& part) {
  if (!run.document) return nullptr;
  const auto found = run.document->find(part);
  return found == run.document->end() ? nullptr : &*found;
}

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

Facts facts_of(const Run& run, const std::string& part) {
  Facts facts;
  if (const Json* const value = part_of(run, part); value != nullptr && !value->is_null())
    flatten(*value, "", 0, facts);
  return facts;
}

std::string fact(const Run& run, const std::string& part, const std::string& key) {
  const Json* value = part_of(run, part);
  if (value == nullptr) return {};
  if (!key.empty()) {
    if (!value->is_object()) return {};
    const auto found = value->find(key);
    if (found == value->end()) return {};
    value = &*found;
  }
  return text_of(*value);
}

std::string state_of(const Run& run) {
  const std::string state = fact(run, "state");
  return state == "running" ? "running, or killed" : state;
}

std::optional<double> duration_of(const Run& run) {
  const Json* const started = part_of(run, "started");
  const Json* const finished = part_of(run, "finished");
  if (started != nullptr && finished != nullptr && started->is_number() && finished->is_number())
    return finished->get<double>() - started->get<double>();
  const double seconds = run.last_time - run.first_time;
  if (!(seconds > 0)) return std::nullopt;
  return seconds;
}

}  // namespace sabath
