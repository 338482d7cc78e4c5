#include "sabath/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/comparison.h"
#include "report/json_report.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

const char* json_word(RunComparison::Sameness sameness) {
  return sameness == RunComparison::Sameness::same        ? "same"
         : sameness == RunComparison::Sameness::different ? "different"
                                                          : "unknown";
}

double tolerance_in(JsonObject& asked) {
  const JsonValue* value = asked.find("tolerance");
  if (value == nullptr) return CompareRequest().tolerance;
  if (const auto* whole = value->get<std::uint64_t>()) return static_cast<double>(*whole);
  if (const auto* number = value->get<JsonNumber>()) return number->value;
  asked.fail("tolerance", "is no number");
}

}  // namespace

CompareRecord compare(Session&, const CompareRequest& request, EventSink& events, std::stop_token) {
  if (!(request.tolerance >= 0) || !std::isfinite(request.tolerance)) {
    throw Error(FailureKind::usage, fmt::format("the tolerance cannot be {}", request.tolerance),
                "give a relative difference such as 0.01");
  }
  MetricReaderOptions reader;
  reader.patterns = request.patterns;
  const std::vector<Run> runs = load_runs({request.a.string(), request.b.string()}, reader);
  std::ranges::for_each(runs, refuse_too_large);
  for (const Run& one : runs) {
    if (std::string doubts = doubts_of(one); !doubts.empty()) events.on(event::Warning{std::move(doubts)});
  }
  if (runs.size() != 2) throw Error(FailureKind::usage, "a sweep has several runs", "name two of them");
  CompareRecord record{compare_runs(runs[0], runs[1], request.metrics, request.tolerance), runs[0].label, runs[1].label,
                       request.tolerance, 0};
  if (request.strict && !record.found.within()) record.exit = exit_code(FailureKind::content);
  return record;
}

Json json_of(const CompareRecord& record) {
  const RunComparison& found = record.found;
  const auto facts = [](const std::vector<FactDifference>& differences) {
    Json array = Json::array();
    for (const auto& [name, a, b] : differences)
      array.push_back(Json{{"name", printable(name, 4096)}, {"a", printable(a, 4096)}, {"b", printable(b, 4096)}});
    return array;
  };
  Json metrics = Json::array();
  for (const MetricDifference& one : found.metrics) {
    metrics.push_back(Json{{"name", printable(one.name, 4096)},
                           {"epochs", one.common},
                           {"a", json_number(one.last_a)},
                           {"b", json_number(one.last_b)},
                           {"greatest", json_number(one.greatest)},
                           {"at", json_number(one.greatest_at)},
                           {"within", one.within}});
  }
  return Json{{"schema", 1},
              {"data", json_word(found.data)},
              {"code", json_word(found.code)},
              {"data_differences", facts(found.data_differences)},
              {"code_differences", facts(found.code_differences)},
              {"config", facts(found.config)},
              {"environment", facts(found.environment)},
              {"machine", facts(found.machine)},
              {"tolerance", record.tolerance},
              {"metrics", std::move(metrics)},
              {"only_a", found.only_a.size()},
              {"only_b", found.only_b.size()},
              {"within", found.within()},
              {"exit", record.exit}};
}

std::string to_json(const CompareRecord& record) { return text_of(json_of(record)); }

Json call_compare(Session& session, JsonObject& asked, EventSink& events, std::stop_token stop) {
  CompareRequest request;
  request.a = asked.text("a");
  request.b = asked.text("b");
  request.tolerance = tolerance_in(asked);
  request.metrics = asked.texts("metric");
  request.patterns = asked.texts("pattern");
  request.strict = asked.flag("exit_code");
  asked.finish();
  return json_of(compare(session, request, events, std::move(stop)));
}

}  // namespace sabath
