#include <fmt/format.h>

#include <memory>

#include "cli/described.h"
#include "cli/verbs.h"
#include "metrics/formats.h"
#include "report/text_report.h"
#include "sabath/path.h"
#include "sabath/verbs/report.h"

namespace sabath::cli {
namespace {
namespace cmd_report {

std::string line_of(const ExpectationResult& result) {
  return fmt::format("{}: {}: {}{}", printable(result.run), printable(result.expected),
                     result.value ? short_number(*result.value) : "there is no such metric",
                     result.met     ? ", met"
                     : result.value ? ", NOT met"
                                    : "");
}

int run(Context& context, ReportRequest& request) {
  request.utf8 = context.presentation.utf8;
  const bool json = context.presentation.json;
  if (!json) request.write = [&context](std::string_view text) { context.out.print(text); };
  Session session(context.configuration.session, context.ranks);
  const ReportRecord record = report(session, request, *context.make_progress(), context.stop);
  for (const ExpectationResult& result : record.expectations) context.say(line_of(result));
  if (json) context.out.record_text(to_json(record));
  return record.exit;
}

Action declare_report(OptionSet& set) {
  const auto request = std::make_shared<ReportRequest>();
  declare_fields(set, *request);
  return [request](Context& context) { return run(context, *request); };
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
    .name = "report",
    .summary = "show the results of a run or a log: table, figure, HTML, exports",
    .examples =
        "sabath report train.log                              table and sparklines\n"
        "sabath report run_a run_b -o runs.svg                both in one figure\n"
        "sabath report run_a -o run.html                      one file, no network\n"
        "sabath report run_a --expect 'min(val_mae)<=0.124'   exit 7 if not\n"
        "sabath report run_a --format mlflow -o mlruns        for `mlflow ui`\n"
        "sabath report net other/latency.json --format latency    models' latencies, machines side by side",
    .details = cmd_report::details(),
    .declare = cmd_report::declare_report,
    .once = true,
};

}  // namespace sabath::cli
