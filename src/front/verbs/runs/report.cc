#include "sabath/verbs/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/asked_file.h"
#include "base/file.h"
#include "base/wording.h"
#include "report/expectation.h"
#include "report/exporter.h"
#include "report/json_report.h"
#include "report/reported_fields.h"
#include "run/settings.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/runs/latency_report.h"
#include "verbs/runs/report_output.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

constexpr std::uint64_t fields_size_max = 1 << 20;

std::map<std::string, std::string> fields_of(const ReportRequest& request, const Exporter& exporter) {
  const bool any = !request.fields.empty() || !request.fields_file.empty();
  if (any && !exporter.takes_fields) {
    std::vector<std::string> names;
    for (const ReportFormat& format : report_formats()) {
      if (format.takes_fields) names.push_back(format.name);
    }
    throw Error(FailureKind::usage, fmt::format("{} and {} are of {} {}", option_text("set"), option_text("set_from"),
                                                option_text("format"), fmt::join(names, ", ")));
  }
  std::map<std::string, std::string> fields = request.fields;
  if (request.fields_file.empty()) return fields;
  refuse_directory(request.fields_file);
  const auto text = try_read_text(request.fields_file, fields_size_max);
  if (!text) {
    throw Error(FailureKind::usage, fmt::format("there is no file {}", printable(request.fields_file.string(), 4096)));
  }
  fields.merge(parse_config(*text, request.fields_file.string()));
  return fields;
}

// Refuses runs and places that the exporter cannot take.
void refuse_place(const Exporter& exporter, const ReportRequest& request, std::size_t runs) {
  using Target = Exporter::Target;
  if (exporter.one_run_only && runs != 1)
    throw Error(FailureKind::usage,
                fmt::format("{} {} is of one run, not of {}", option_text("format"), exporter.name, runs));
  if (!request.file.empty() || exporter.target == Target::any) return;
  if (exporter.target == Target::directory) {
    throw Error(FailureKind::usage, fmt::format("{} {} writes a directory", option_text("format"), exporter.name),
                fmt::format("name it with {} DIRECTORY", option_text("file")));
  }
  throw Error(FailureKind::usage, fmt::format("{} {} is not for a terminal", option_text("format"), exporter.name),
              fmt::format("name a file with {} FILE.{}", option_text("file"), exporter.name));
}

void write_report(const ReportRequest& request, const Exporter& exporter, const std::vector<Run>& runs,
                  ExportOptions options, EventSink& events) {
  refuse_place(exporter, request, runs.size());
  const bool directory = exporter.target == Exporter::Target::directory;
  if (!directory) refuse_directory(request.file);
  ReportOutput output(directory ? "" : request.file, request.write, events);
  if (directory) options.directory = request.file;
  exporter.write(runs, options, output);
  output.publish();
}

// The exit code: 0 if every run meets every expectation.
int judge_all(const std::vector<Run>& runs, const std::vector<Expectation>& expectations,
              std::vector<ExpectationResult>& results) {
  bool missing = false, unmet = false;
  for (const Expectation& expectation : expectations) {
    for (const Run& run : runs) {
      const Judgement verdict = judge(expectation, run);
      missing = missing || !verdict.found;
      unmet = unmet || (verdict.found && !verdict.met);
      results.push_back(
          {run.label, expectation.text, verdict.found ? std::optional(verdict.value) : std::nullopt, verdict.met});
    }
  }
  return unmet ? exit_code(FailureKind::content) : missing ? exit_code(FailureKind::not_found) : 0;
}

}  // namespace

ReportRecord report(Session& session, const ReportRequest& request, EventSink& events, std::stop_token stop) {
  if (request.format == latency_format) return report_latencies(session, request, events);
  std::vector<Expectation> expectations;
  for (const std::string& text : request.expectations) expectations.push_back(parse_expectation(text));
  const Exporter& exporter = request.format.empty() ? exporter_for(request.file) : exporter_named(request.format);
  ExportOptions options{.metrics = request.metrics, .reader = {}, .fields = fields_of(request, exporter)};
  options.reader.patterns = request.patterns;
  options.utf8 = request.utf8;
  options.all_rows = request.all_rows;
  options.stop = std::move(stop);
  std::vector<Run> runs = load_runs(request.runs, options.reader);
  if (!exporter.reads_again || !expectations.empty()) std::ranges::for_each(runs, refuse_too_large);
  for (const Run& one : runs) {
    if (std::string doubts = doubts_of(one); !doubts.empty()) events.on(event::Warning{std::move(doubts)});
  }
  if (request.write || !request.file.empty()) write_report(request, exporter, runs, std::move(options), events);
  ReportRecord record;
  record.exit = judge_all(runs, expectations, record.expectations);
  record.output = request.file;
  for (Run& run : runs) record.runs.push_back(reported_run(std::move(run)));
  return record;
}

std::vector<ReportFormat> report_formats() {
  std::vector<ReportFormat> formats;
  for (const Exporter* const one : exporters()) formats.push_back({std::string(one->name), one->takes_fields});
  formats.push_back({std::string(latency_format), false});
  return formats;
}

namespace {

// "text|svg|..."
std::string_view report_format_words() {
  static const std::string words = [] {
    std::string all;
    for (const ReportFormat& format : report_formats()) all += (all.empty() ? "" : "|") + format.name;
    return all;
  }();
  return words;
}

}  // namespace

template <>
struct Described<ReportRequest> {
  using Of = ReportRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(runs,
                   .help = "a run's directory, a log, CSV or JSON-lines file, or what a tracker keeps; of latency also "
                           "an asset",
                   .required = true, .argument = "RUN"),
      SABATH_FIELD(format, .help = "what to write (default: what FILE's name says, else text)",
                   .find_words = report_format_words),
      SABATH_FIELD(file, .help = "write there; of mlflow and tensorboard, a directory", .letter = 'o',
                   .option = "output", .value = "FILE"),
      SABATH_FIELD_AS("set", fields, .help = "of mlperf: what the record does not say; @NAME is a metric of the run",
                      .value = "KEY=VALUE"),
      SABATH_FIELD_AS("set_from", fields_file, .help = "the same from a JSON or YAML file; --set wins",
                      .value = "FILE"),
      SABATH_FIELD_AS("metric", metrics, .help = "show this one (default: losses and errors)", .value = "NAME"),
      SABATH_FIELD_AS("expect", expectations, .help = "such as 'val_mae<=0.124'; sets the exit code",
                      .value = "CONDITION"),
      SABATH_FIELD_AS("pattern", patterns, .help = "read lines that match, by named groups (RE2)", .value = "REGEX"),
      SABATH_FIELD_AS("all", all_rows, .help = "every row of a long table"),
  };
};

template <>
struct Described<ExpectationResult> {
  using Of = ExpectationResult;
  static constexpr std::size_t bytes_max = 200;
  static constexpr Field table[] = {
      SABATH_FIELD(run, .help = "its name in the report", .printable_max = bytes_max),
      SABATH_FIELD(expected, .help = "as it was given", .printable_max = bytes_max),
      SABATH_FIELD(value, .help = "null: the run has no such metric", .any_number = true),
      SABATH_FIELD(met, .help = "the value is as expected"),
  };
};

template <>
struct Described<ReportRecord> {
  using Of = ReportRecord;
  static bool is_of_runs(const void* record) { return static_cast<const ReportRecord*>(record)->latency.empty(); }
  static Json latency_of(const ReportRecord& record) {
    return record.latency.empty() ? Json() : Json::parse(record.latency);
  }
  static constexpr Field table[] = {
      SABATH_FIELD(runs, .help = "in the order of the request", .only_if = is_of_runs),
      SABATH_FIELD(expectations, .help = "each of each run", .only_if = is_of_runs),
      SABATH_VALUE("latency", latency_of, .help = "of the format latency: its machines and rows",
                   .absent_if_empty = true),
      SABATH_FIELD(output, .help = "where the report is; null: no file was named", .null_if_empty = true,
                   .printable_max = 4096),
      SABATH_FIELD(exit, .help = "the exit code: 7 if an expectation is not met, 3 if there is no such metric"),
  };
};

std::string to_json(const ReportRecord& record) { return record_text(record); }

Json call_report(Session& session, JsonObject& asked, EventSink& events, std::stop_token stop) {
  const auto request = request_in<ReportRequest>(asked);
  if (!request.format.empty() && request.format != latency_format && request.file.empty())
    asked.fail("format", "is of a report that no file is named for");
  return record_json(report(session, request, events, std::move(stop)));
}

extern constexpr LibraryVerb report_call = described<ReportRequest, ReportRecord>("report", call_report);

}  // namespace sabath
