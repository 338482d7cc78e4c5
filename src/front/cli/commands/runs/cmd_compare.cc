#include <fmt/format.h>

#include "cli/described.h"
#include "cli/verbs.h"
#include "report/text_report.h"
#include "report/text_table.h"
#include "sabath/path.h"
#include "sabath/verbs/compare.h"

namespace sabath::cli {
namespace {
namespace cmd_compare {

using Sameness = RunComparison::Sameness;

std::string word(Sameness sameness, std::string_view what) {
  if (sameness == Sameness::unknown) return fmt::format("{} not known", what);
  return fmt::format("{} {}", sameness == Sameness::same ? "same" : "different", what);
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

std::string metrics_text(const CompareRecord& record) {
  const RunComparison& found = record.found;
  if (found.metrics.empty()) return "no metric of any epoch is in both\n";
  TextTable table(1);
  table.add({"metric", "epochs", "last of A", "last of B", "greatest difference", "at", ""});
  for (const MetricDifference& one : found.metrics) {
    table.add({printable(one.name, 40), fmt::format("{}", one.common), one.common == 0 ? "" : short_number(one.last_a),
               one.common == 0 ? "" : short_number(one.last_b),
               one.common == 0 ? "" : fmt::format("{:.3g} %", 100 * one.greatest),
               one.common == 0 ? "" : fmt::format("{}", one.greatest_at), one.within ? "" : "beyond"});
  }
  std::string text = fmt::format("A = {}, B = {}, tolerance {:g} %\n{}", printable(record.label_a),
                                 printable(record.label_b), 100 * record.tolerance, table.text());
  if (found.epoch_shift != 0) text += "one counts epochs from 0, the other from 1: compared by their order\n";
  for (const auto& [name, only] : {std::pair{"A", &found.only_a}, {"B", &found.only_b}}) {
    for (const std::string& metric : *only) text += fmt::format("only {} has {}\n", name, printable(metric));
  }
  return text;
}

void print(Context& context, const CompareRecord& record) {
  context.out.print(verdict_line(record.found) + "\n" + facts_text(record.found) + metrics_text(record));
}

}  // namespace cmd_compare
}  // namespace

constexpr Verb compare_verb{
    .name = "compare",
    .summary = "show what differs between two runs: data, code, results",
    .examples =
        "sabath compare run_a run_b\n"
        "sabath compare run_a published.log --metric val_mae --tolerance 0.02 --exit-code",
    .details =
        "The data are the same if the manifest roots of all assets are; the code, if the recipe's digest and the "
        "source's commit are. Results are compared epoch by epoch: |a - b| / max(|a|, |b|). A log that counts epochs "
        "from 0 is matched with one that counts from 1 by their order.",
    .declare = declare<compare, cmd_compare::print>,
    .once = true,
};

}  // namespace sabath::cli
