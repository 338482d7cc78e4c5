#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "metrics/formats.h"
#include "report/text_report.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/report.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_report {

struct Options {
  ReportRequest request;
  std::vector<std::string> fields;
  std::string file, fields_file;
};

std::vector<std::string> names_of_formats() {
  std::vector<std::string> names;
  for (ReportFormat& format : report_formats()) names.push_back(std::move(format.name));
  return names;
}

std::map<std::string, std::string> parse_fields(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> fields;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw Error(FailureKind::usage, fmt::format("--set {} is not KEY=VALUE", printable(text)),
                  "such as --set submission_org=Us, or --set eval_error=@val_mae for a metric of the run");
    }
    fields[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return fields;
}

std::string line_of(const ExpectationResult& result) {
  return fmt::format("{}: {}: {}{}", printable(result.run), printable(result.expected),
                     result.value ? short_number(*result.value) : "there is no such metric",
                     result.met     ? ", met"
                     : result.value ? ", NOT met"
                                    : "");
}

int run(Context& context, Options& options) {
  ReportRequest& request = options.request;
  request.fields = parse_fields(options.fields);
  request.file = options.file;
  request.fields_file = options.fields_file;
  request.utf8 = context.presentation.utf8;
  const bool json = context.presentation.json;
  if (!json) request.write = [&context](std::string_view text) { context.out.print(text); };
  Session session(context.configuration.session, context.ranks);
  const ReportRecord record = report(session, request, *context.make_progress(), context.stop);
  for (const ExpectationResult& result : record.expectations) context.say(line_of(result));
  if (json) context.out.record(json_of(record));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.arguments("RUN", options->request.runs, true,
                "a run's directory, a log, CSV or JSON-lines file, or what a tracker keeps; of latency also an asset");
  set.choice("--format", names_of_formats(), options->request.format,
             "what to write (default: what FILE's name says, else text)");
  set.option("-o,--output", "FILE", options->file, "write there; of mlflow and tensorboard, a directory");
  set.option("--set", "KEY=VALUE", options->fields,
             "of mlperf: what the record does not say; @NAME is a metric of the run");
  set.option("--set-from", "FILE", options->fields_file, "the same from a JSON or YAML file; --set wins");
  set.option("--metric", "NAME", options->request.metrics, "show this one (default: losses and errors)");
  set.option("--expect", "CONDITION", options->request.expectations, "such as 'val_mae<=0.124'; sets the exit code");
  set.option("--pattern", "REGEX", options->request.patterns, "read lines that match, by named groups (RE2)");
  set.flag("--all", options->request.all_rows, "every row of a long table");
  return [options](Context& context) { return run(context, *options); };
}

std::string_view details() {
  static const std::string text =
      "RUN is a directory that `sabath run` made, or any output of a training program: " + log_format_titles() +
      "; or files of TensorBoard, W&B and MLflow (docs/metrics.md). The figure has losses and errors on the left axis "
      "and the time per epoch on the right one.\n"
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
    "sabath report run_a --format mlflow -o mlruns        for `mlflow ui`\n"
    "sabath report net other/latency.json --format latency    models' latencies, machines side by side",
    cmd_report::details(),
    false,
    cmd_report::declare,
    false,
    true,
};

}  // namespace sabath::cli
