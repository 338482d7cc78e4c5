#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/report_output.h"
#include "cli/verbs.h"
#include "metrics/formats.h"
#include "report/expectation.h"
#include "report/exporter.h"
#include "report/json_report.h"
#include "report/text_report.h"
#include "run/settings.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {
namespace cmd_report {

using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> runs, metrics, expectations, patterns, fields;
  std::string format, file, fields_file;
  bool all_rows = false;
};

// The format that was named, or that the file's name says.
const Exporter& exporter_of(const Options& options) {
  return options.format.empty() ? exporter_for(options.file) : exporter_named(options.format);
}

std::vector<std::string> names_of(bool (*chosen)(const Exporter&)) {
  std::vector<std::string> names;
  for (const Exporter* const one : exporters()) {
    if (chosen(*one)) names.emplace_back(one->name);
  }
  return names;
}

constexpr std::uint64_t fields_size_max = 1 << 20;

// What a submission says and the record does not: a file, and --set over it.
std::map<std::string, std::string> fields_of(const Options& options, const Exporter& exporter) {
  const bool any = !options.fields.empty() || !options.fields_file.empty();
  if (any && !exporter.takes_fields) {
    const auto names = names_of([](const Exporter& one) { return one.takes_fields; });
    throw Error(FailureKind::usage, fmt::format("--set and --set-from are of --format {}", fmt::join(names, ", ")));
  }
  std::map<std::string, std::string> fields;
  if (!options.fields_file.empty()) {
    const auto text = try_read_text(options.fields_file, fields_size_max);
    if (!text)
      throw Error(FailureKind::usage, fmt::format("there is no file {}", printable(options.fields_file, 4096)));
    fields = parse_config(*text, options.fields_file);
  }
  for (const std::string& text : options.fields) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw Error(FailureKind::usage, fmt::format("--set {} is not KEY=VALUE", printable(text)),
                  "such as --set submission_org=Us, or --set eval_error=@val_mae for a metric of the run");
    }
    fields[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return fields;
}

// What the exporter cannot do with these runs and this place.
void refuse(const Exporter& exporter, const Options& options, std::size_t runs) {
  using Target = Exporter::Target;
  if (exporter.one_run_only && runs != 1)
    throw Error(FailureKind::usage, fmt::format("--format {} is of one run, not of {}", exporter.name, runs));
  if (!options.file.empty() || exporter.target == Target::any) return;
  if (exporter.target == Target::directory) {
    throw Error(FailureKind::usage, fmt::format("--format {} writes a directory", exporter.name),
                "name it with -o DIRECTORY");
  }
  throw Error(FailureKind::usage, fmt::format("--format {} is not for a terminal", exporter.name),
              fmt::format("name a file with -o FILE.{}", exporter.name));
}

void write_report(Context& context, const Options& options, const Exporter& exporter, const std::vector<Run>& runs,
                  const MetricReaderOptions& reader, std::map<std::string, std::string> fields) {
  refuse(exporter, options, runs.size());
  const bool directory = exporter.target == Exporter::Target::directory;
  ReportOutput output(context, directory ? "" : options.file);
  ExportOptions chosen{.metrics = options.metrics, .reader = reader, .fields = std::move(fields)};
  if (directory) chosen.directory = options.file;
  chosen.utf8 = context.presentation.utf8;
  chosen.all_rows = options.all_rows;
  chosen.stop = context.stop;
  exporter.write(runs, chosen, output);
  output.publish();
}

// The exit code: 0 if every run meets every expectation.
int judge_all(Context& context, const std::vector<Run>& runs, const std::vector<Expectation>& expectations,
              Json& told) {
  bool missing = false, unmet = false;
  for (const Expectation& expectation : expectations) {
    for (const Run& run : runs) {
      const Judgement verdict = judge(expectation, run);
      missing = missing || !verdict.found;
      unmet = unmet || (verdict.found && !verdict.met);
      told.push_back(Json{{"run", printable(run.label)},
                          {"expected", printable(expectation.text)},
                          {"value", verdict.found ? json_number(verdict.value) : Json(nullptr)},
                          {"met", verdict.met}});
      const std::string value = verdict.found ? short_number(verdict.value) : "there is no such metric";
      context.say(fmt::format("{}: {}: {}{}", printable(run.label), printable(expectation.text), value,
                              verdict.met     ? ", met"
                              : verdict.found ? ", NOT met"
                                              : ""));
    }
  }
  return unmet ? exit_code(FailureKind::content) : missing ? exit_code(FailureKind::not_found) : 0;
}

int run(Context& context, const Options& options) {
  std::vector<Expectation> expectations;
  for (const std::string& text : options.expectations) expectations.push_back(parse_expectation(text));
  MetricReaderOptions reader;
  reader.patterns = options.patterns;
  const Exporter& exporter = exporter_of(options);
  auto fields = fields_of(options, exporter);
  const std::vector<Run> runs = load_runs(options.runs, reader);
  for (const Run& one : runs) {
    if (const std::string doubts = doubts_of(one); !doubts.empty()) context.warn(doubts);
  }
  const bool json = context.presentation.json;
  if (!json || !options.file.empty()) write_report(context, options, exporter, runs, reader, std::move(fields));
  Json told = Json::array();
  const int exit = judge_all(context, runs, expectations, told);
  if (json) {
    Json record = json_report(runs);
    record["expectations"] = std::move(told);
    record["output"] = options.file.empty() ? Json(nullptr) : Json(printable(options.file, 4096));
    record["exit"] = exit;
    context.out.record(record);
  }
  return exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.arguments("RUN", options->runs, true, "a run's directory, or a log, CSV or JSON-lines file");
  set.choice("--format", names_of([](const Exporter&) { return true; }), options->format,
             "what to write (default: what FILE's name says, else text)");
  set.option("-o,--output", "FILE", options->file, "write there; of mlflow, a directory");
  set.option("--set", "KEY=VALUE", options->fields,
             "of mlperf: what the record does not say; @NAME is a metric of the run");
  set.option("--set-from", "FILE", options->fields_file, "the same from a JSON or YAML file; --set wins");
  set.option("--metric", "NAME", options->metrics, "show this one (default: losses and errors)");
  set.option("--expect", "CONDITION", options->expectations, "such as 'val_mae<=0.124'; sets the exit code");
  set.option("--pattern", "REGEX", options->patterns, "read lines that match, by named groups (RE2)");
  set.flag("--all", options->all_rows, "every row of a long table");
  return [options](Context& context) { return run(context, *options); };
}

std::string_view details() {
  static const std::string text =
      "RUN is a directory that `sabath run` made, or any output of a training program: " + log_format_titles() +
      " (docs/metrics.md). The figure has losses and errors on the left axis and the time per epoch on the right one.\n"
      "An expectation is [last|first|min|max|mean](NAME), <=, <, >=, >, or = with +-TOLERANCE, and a number; NAME "
      "alone is its last value. One that is not met ends with 7, one of a metric that a run does not have with 3.";
  return text;
}

}  // namespace cmd_report
}  // namespace

const Verb report_verb{
    "report",
    "show what a run or a training log came to: table, figure, HTML, exports",
    "sabath report train.log                              table and sparklines\n"
    "sabath report run_a run_b -o runs.svg                both in one figure\n"
    "sabath report run_a -o run.html                      one file, no network\n"
    "sabath report run_a --expect 'min(val_mae)<=0.124'   exit 7 if not\n"
    "sabath report run_a --format mlflow -o mlruns        for `mlflow ui`",
    cmd_report::details(),
    false,
    cmd_report::declare,
};

}  // namespace sabath::cli
