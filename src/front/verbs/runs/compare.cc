#include "sabath/verbs/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/comparison.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/verb.h"

namespace sabath {
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

template <>
struct WordsOf<RunComparison::Sameness> {
  static constexpr std::string_view words = "same|different|unknown";
  static std::string_view text(RunComparison::Sameness sameness) {
    return sameness == RunComparison::Sameness::same        ? "same"
           : sameness == RunComparison::Sameness::different ? "different"
                                                            : "unknown";
  }
};

constexpr std::size_t fact_bytes_max = 4096;  // of a name or value in the record

template <>
struct Described<FactDifference> {
  using Of = FactDifference;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "its path, such as cpu.model", .printable_max = fact_bytes_max),
      SABATH_FIELD(a, .help = "what A has; empty: nothing", .printable_max = fact_bytes_max),
      SABATH_FIELD(b, .help = "what B has; empty: nothing", .printable_max = fact_bytes_max),
  };
};

template <>
struct Described<MetricDifference> {
  using Of = MetricDifference;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "as the logs call it", .printable_max = fact_bytes_max),
      SABATH_FIELD_AS("epochs", common, .help = "that both have"),
      SABATH_FIELD_AS("a", last_a, .help = "of A, in the last epoch that both have", .any_number = true),
      SABATH_FIELD_AS("b", last_b, .help = "of B, in the same epoch", .any_number = true),
      SABATH_FIELD(greatest, .help = "the greatest relative difference: |a - b| / max(|a|, |b|)", .any_number = true),
      SABATH_FIELD_AS("at", greatest_at, .help = "the epoch of A in which it is", .any_number = true),
      SABATH_FIELD(within, .help = "it is not more than the tolerance"),
  };
};

template <>
struct Described<CompareRequest> {
  using Of = CompareRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(a, .help = "a run's directory or a log", .required = true, .argument = "A"),
      SABATH_FIELD(b, .help = "the other one", .required = true, .argument = "B"),
      SABATH_FIELD(tolerance, .help = "relative difference that counts as none (default: 0.01)", .value = "RATIO"),
      SABATH_FIELD_AS("metric", metrics, .help = "compare this one (default: all but times)", .value = "NAME"),
      SABATH_FIELD_AS("pattern", patterns, .help = "read lines that match, by named groups (RE2)", .value = "REGEX"),
      SABATH_FIELD_AS("exit_code", strict, .help = "end with 7 when a metric differs by more than the tolerance"),
  };
};

template <>
struct Described<CompareRecord> {
  using Of = CompareRecord;
  static constexpr Field table[] = {
      SABATH_FIELD_AS("data", found.data, .help = "by the manifest roots of all assets but the code"),
      SABATH_FIELD_AS("code", found.code, .help = "by the roots of models, the recipe and the source's commit"),
      SABATH_FIELD_AS("data_differences", found.data_differences, .help = "what of the data differs"),
      SABATH_FIELD_AS("code_differences", found.code_differences, .help = "what of the code differs"),
      SABATH_FIELD_AS("config", found.config, .help = "settings that differ"),
      SABATH_FIELD_AS("environment", found.environment, .help = "what differs in the environment"),
      SABATH_FIELD_AS("machine", found.machine, .help = "what differs in the machine"),
      SABATH_FIELD(tolerance, .help = "the relative difference that counted as none"),
      SABATH_FIELD_AS("metrics", found.metrics, .help = "those that both have"),
      SABATH_VALUE(
          "only_a", [](const Of& of) { return of.found.only_a.size(); }, .help = "metrics of A alone"),
      SABATH_VALUE(
          "only_b", [](const Of& of) { return of.found.only_b.size(); }, .help = "metrics of B alone"),
      SABATH_VALUE(
          "within", [](const Of& of) { return of.found.within(); },
          .help = "every metric that both have is within the tolerance, and there is one"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const CompareRecord& record) { return record_text(record); }

extern constexpr LibraryVerb compare_call = described<compare>("compare");

}  // namespace sabath
