#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "metrics/number.h"
#include "report/comparison.h"
#include "report/json_report.h"
#include "report/text_report.h"
#include "report/text_table.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {
namespace cmd_compare {

using Json = nlohmann::ordered_json;
using Sameness = RunComparison::Sameness;

struct Options {
  std::string a, b, tolerance = "0.01";
  std::vector<std::string> metrics, patterns;
  bool exit_code = false;
};

std::string word(Sameness sameness, std::string_view what) {
  if (sameness == Sameness::unknown) return fmt::format("{} not known", what);
  return fmt::format("{} {}", sameness == Sameness::same ? "same" : "different", what);
}

const char* json_word(Sameness sameness) {
  return sameness == Sameness::same ? "same" : sameness == Sameness::different ? "different" : "unknown";
}

// "same data, same code, environment differs in 3 (python, ...)"
std::string verdict_line(const RunComparison& found) {
  std::string line = word(found.data, "data") + ", " + word(found.code, "code");
  constexpr std::size_t named_max = 3;
  const auto part = [&](std::string_view what, const std::vector<FactDifference>& differences) {
    if (differences.empty()) return;
    line += fmt::format(", {} differs in ", what);
    for (std::size_t i = 0; i < differences.size() && i < named_max; ++i)
      line += (i > 0 ? ", " : "") + printable(differences[i].name, 60);
    if (differences.size() > named_max) line += fmt::format(" and {} more", differences.size() - named_max);
  };
  part("configuration", found.config);
  part("environment", found.environment);
  part("machine", found.machine);
  return line;
}

std::string facts_text(const RunComparison& found) {
  TextTable table(3);
  const auto part = [&](const std::string& what, const std::vector<FactDifference>& differences) {
    for (const auto& [name, a, b] : differences) {
      const auto cell = [](const std::string& text) { return text.empty() ? std::string("-") : printable(text, 60); };
      table.add({"  " + what + printable(name, 60), cell(a), cell(b)});
    }
  };
  part("data: ", found.data_differences);
  part("code: ", found.code_differences);
  part("config.", found.config);
  part("environment.", found.environment);
  part("machine.", found.machine);
  return table.text();
}

std::string metrics_text(const RunComparison& found, const Run& a, const Run& b, double tolerance) {
  if (found.metrics.empty()) return "no metric of any epoch is in both\n";
  TextTable table(1);
  table.add({"metric", "epochs", "last of A", "last of B", "greatest difference", "at", ""});
  for (const MetricDifference& one : found.metrics) {
    table.add({printable(one.name, 40), fmt::format("{}", one.common), one.common == 0 ? "" : short_number(one.last_a),
               one.common == 0 ? "" : short_number(one.last_b),
               one.common == 0 ? "" : fmt::format("{:.3g} %", 100 * one.greatest),
               one.common == 0 ? "" : fmt::format("{}", one.greatest_at), one.within ? "" : "beyond"});
  }
  std::string text = fmt::format("A = {}, B = {}, tolerance {:g} %\n{}", printable(a.label), printable(b.label),
                                 100 * tolerance, table.text());
  if (found.epoch_shift != 0) text += "one counts epochs from 0, the other from 1: compared by their order\n";
  for (const auto& [name, only] : {std::pair{"A", &found.only_a}, {"B", &found.only_b}}) {
    for (const std::string& metric : *only) text += fmt::format("only {} has {}\n", name, printable(metric));
  }
  return text;
}

Json record_of(const RunComparison& found, double tolerance, int exit) {
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
              {"tolerance", tolerance},
              {"metrics", std::move(metrics)},
              {"only_a", found.only_a.size()},
              {"only_b", found.only_b.size()},
              {"within", found.within()},
              {"exit", exit}};
}

double parse_tolerance(const std::string& text) {
  const auto number = try_number(text);
  if (!number || !(*number >= 0) || !std::isfinite(*number)) {
    throw Error(FailureKind::usage, fmt::format("the tolerance cannot be '{}'", printable(text)),
                "give a relative difference such as 0.01");
  }
  return *number;
}

int run(Context& context, const Options& options) {
  const double tolerance = parse_tolerance(options.tolerance);
  MetricReaderOptions reader;
  reader.patterns = options.patterns;
  const std::vector<Run> runs = load_runs({options.a, options.b}, reader);
  for (const Run& one : runs) {
    if (const std::string doubts = doubts_of(one); !doubts.empty()) context.warn(doubts);
  }
  if (runs.size() != 2) throw Error(FailureKind::usage, "a sweep has several runs", "name two of them");
  const RunComparison found = compare_runs(runs[0], runs[1], options.metrics, tolerance);
  const int exit = options.exit_code && !found.within() ? exit_code(FailureKind::content) : 0;
  if (context.presentation.json) {
    context.out.record(record_of(found, tolerance, exit));
  } else {
    context.out.print(verdict_line(found) + "\n" + facts_text(found) +
                      metrics_text(found, runs[0], runs[1], tolerance));
  }
  return exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("A", options->a, "a run's directory or a log");
  set.argument("B", options->b, "the other one");
  set.option("--tolerance", "RATIO", options->tolerance, "relative difference that counts as none (default: 0.01)");
  set.option("--metric", "NAME", options->metrics, "compare this one (default: all but times)");
  set.option("--pattern", "REGEX", options->patterns, "read lines that match, by named groups (RE2)");
  set.flag("--exit-code", options->exit_code, "end with 7 when a metric differs by more than the tolerance");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_compare
}  // namespace

constexpr Verb compare_verb{
    "compare",
    "say what differs between two runs: data, code, environment, results",
    "sabath compare run_a run_b\n"
    "sabath compare run_a published.log --metric val_mae --tolerance 0.02 --exit-code",
    "The data are the same if the manifest roots of all assets are; the code, if the recipe's digest and the source's "
    "commit are. Results are compared epoch by epoch: |a - b| / max(|a|, |b|). A log that counts epochs from 0 is "
    "matched "
    "with one that counts from 1 by their order.",
    false,
    cmd_compare::declare,
};

}  // namespace sabath::cli
