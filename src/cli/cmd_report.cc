#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/process.h"
#include "cli/report_output.h"
#include "cli/verbs.h"
#include "metrics/formats.h"
#include "metrics/record.h"
#include "report/expectation.h"
#include "report/figure.h"
#include "report/html_report.h"
#include "report/json_report.h"
#include "report/mlflow_store.h"
#include "report/mlperf_log.h"
#include "report/ro_crate.h"
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

const std::vector<std::string> formats{"text", "svg", "png", "html", "json", "csv", "mlperf", "mlflow", "ro-crate"};

// The format that was named, or that the file's name says.
std::string format_of(const Options& options) {
  if (!options.format.empty()) return options.format;
  const std::string ending = std::filesystem::path(options.file).extension().string();
  for (const auto& [name, format] : {std::pair{".svg", "svg"},
                                     {".png", "png"},
                                     {".html", "html"},
                                     {".htm", "html"},
                                     {".json", "json"},
                                     {".csv", "csv"}}) {
    if (ending == name) return format;
  }
  return "text";
}

const Run& only_run(const std::vector<Run>& runs, const std::string& format) {
  if (runs.size() == 1) return runs.front();
  throw Error(FailureKind::usage, fmt::format("--format {} is of one run, not of {}", format, runs.size()));
}

constexpr std::uint64_t fields_size_max = 1 << 20;

// What a submission says and the record does not: a file, and --set over it.
MlperfFields fields_of(const Options& options, const std::string& format) {
  const bool any = !options.fields.empty() || !options.fields_file.empty();
  if (any && format != "mlperf") throw Error(FailureKind::usage, "--set and --set-from are of --format mlperf");
  MlperfFields fields;
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

void write_mlperf(Context& context, ReportOutput& output, const Run& run, const MetricReaderOptions& reader,
                  const MlperfFields& fields) {
  const MlperfLog log = mlperf_log(run, reader, fields);
  output.write(log.text);
  if (!log.not_printed.empty()) {
    context.say(fmt::format("the program printed no times of {}: they are {}", fmt::join(log.not_printed, ", "),
                            run.document ? "those of the run's record" : "those of its first and last value"));
  }
  if (log.missing.empty()) return;
  context.say(
      fmt::format("a submission to MLPerf HPC wants besides: {} (--set KEY=VALUE)", fmt::join(log.missing, ", ")));
}

void write_csv(ReportOutput& output, const std::vector<Run>& runs, const MetricReaderOptions& reader) {
  const bool several = runs.size() > 1;
  output.write(fmt::format("{}{}\n", several ? "run," : "", metric_csv_head));
  for (const Run& run : runs) {
    const std::string front = several ? csv_cell(run.label) + "," : std::string{};
    for_each_metric(run.path, reader, [&](const Metric& metric) { output.write(front + metric_csv(metric) + "\n"); });
  }
}

void write_png(Context& context, ReportOutput& output, const std::string& svg) {
  const std::string source = output.temporary().string() + ".svg";
  struct Remove {
    const std::string& path;
    ~Remove() { ::unlink(path.c_str()); }
  } const remove{source};
  write_text_atomically(source, svg);
  try {
    const auto result = run_command(
        {{"rsvg-convert", "--zoom", "2", "--output", output.temporary().string(), source}, {}, {}}, context.stop);
    if (result.status != 0) throw Error(FailureKind::command, "rsvg-convert failed: " + printable(result.err));
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::command) throw;
    throw Error(FailureKind::command, error.failure().message,
                "install rsvg-convert (Debian: librsvg2-bin), or write an .svg");
  }
}

Json document(const std::vector<Run>& runs) {
  Json records = Json::array();
  for (const Run& run : runs) records.push_back(json_report(run));
  return Json{{"schema", 1}, {"runs", std::move(records)}};
}

void write_report(Context& context, const Options& options, const std::string& format, const std::vector<Run>& runs,
                  const MetricReaderOptions& reader, const MlperfFields& fields) {
  if (format == "mlflow") {
    if (options.file.empty())
      throw Error(FailureKind::usage, "--format mlflow writes a directory", "name it with -o DIRECTORY");
    for (const Run& run : runs) context.say("mlflow run " + write_mlflow_run(run, reader, options.file));
    return;
  }
  if (format == "png" && options.file.empty())
    throw Error(FailureKind::usage, "a PNG is not for a terminal", "name a file with -o FILE.png");
  ReportOutput output(context.out, options.file);
  constexpr std::size_t curves_of_one = 6, curves_of_several = 2;
  const auto shown = [&] {
    return choose_shown(runs, options.metrics, runs.size() == 1 ? curves_of_one : curves_of_several);
  };
  if (format == "csv") {
    write_csv(output, runs, reader);
  } else if (format == "svg") {
    output.write(draw_figure(runs, shown()));
  } else if (format == "png") {
    write_png(context, output, draw_figure(runs, shown()));
  } else if (format == "html") {
    output.write(html_report(runs, shown()));
  } else if (format == "json") {
    output.write(document(runs).dump(1) + "\n");
  } else if (format == "mlperf") {
    write_mlperf(context, output, only_run(runs, format), reader, fields);
  } else if (format == "ro-crate") {
    output.write(ro_crate(only_run(runs, format)).dump(1) + "\n");
  } else {
    TextOptions text;
    text.utf8 = context.presentation.utf8;
    text.all_rows = options.all_rows;
    output.write(text_report(runs, options.metrics, text));
  }
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
  const std::string format = format_of(options);
  const MlperfFields fields = fields_of(options, format);
  const std::vector<Run> runs = load_runs(options.runs, reader);
  for (const Run& one : runs) {
    if (const std::string doubts = doubts_of(one); !doubts.empty()) context.warn(doubts);
  }
  const bool json = context.presentation.json;
  if (!json || !options.file.empty()) write_report(context, options, format, runs, reader, fields);
  Json told = Json::array();
  const int exit = judge_all(context, runs, expectations, told);
  if (json) {
    Json record = document(runs);
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
  set.choice("--format", formats, options->format, "what to write (default: what FILE's name says, else text)");
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
