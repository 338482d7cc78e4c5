// Results of runs or training logs: their series, whether they meet expectations, and reports of them: a table, a
// figure, a page, exports. Throws Error{usage} for an unknown format, an expectation without sense, and a place that
// the format cannot be written to, Error{not_found}, Error{invalid} and Error{storage} as reading a run does,
// Error{space}, and Error{command} where the program that a format needs fails.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sabath/event.h"

namespace sabath {

class Session;

struct ReportRequest {
  // Directories of runs or sweeps, logs, CSV or JSON-lines files; of the format "latency" assets that have a
  // latency.json, directories with one, or such files.
  std::vector<std::string> runs;
  std::string format;                 // of report_formats(); empty: what the file's name says, else the first
  std::filesystem::path file;         // the report appears there when it is whole; a directory if the format makes one
  std::vector<std::string> metrics;   // shown; empty: losses and errors
  std::vector<std::string> patterns;  // as of MetricsRequest
  std::vector<std::string> expectations;      // "val_mae<=0.124", "min(val_loss)<0.2", "accuracy=0.97+-0.01"
  std::map<std::string, std::string> fields;  // of formats that take them: what the runs' records do not say
  std::filesystem::path fields_file;          // the same in JSON or YAML; `fields` win
  bool all_rows = false;                      // also the middle of a long table
  bool utf8 = true;
  // Takes the report, piece by piece, where no file is named. Empty as well: no report is written.
  std::function<void(std::string_view)> write;
};

// One value for each epoch, or each step where the log has no epochs; NaN and infinities are values.
struct ReportedSeries {
  std::string name;
  std::vector<double> x, y;
  double first = 0, last = 0, least = 0, greatest = 0, mean = 0;  // of the values that are numbers; `last` may be NaN
};

struct ReportedRun {
  std::string label;  // unique among the runs of the report
  std::filesystem::path path;
  std::string state;                 // "finished", "failed", "interrupted", "running"; empty: no record of a run
  std::optional<int> exit;           // of its last program
  std::optional<double> seconds;     // from the first to the last sign of it
  std::string recipe, assets;        // JSON, as the run's record has them; empty: no record
  bool by_step = false;              // x is the step, not the epoch
  std::uint64_t values = 0;          // told in all
  std::uint64_t not_understood = 0;  // lines that look like metrics and are none
  bool too_large = false;            // for its values to be kept: `series` and `figures` are empty
  std::vector<ReportedSeries> series;
  std::vector<std::pair<std::string, double>> figures;  // of no epoch
};

struct ExpectationResult {
  std::string run, expected;    // the run's label; the expectation as it was given
  std::optional<double> value;  // nullopt: the run has no such metric
  bool met = false;
};

struct ReportRecord {
  std::vector<ReportedRun> runs;
  std::vector<ExpectationResult> expectations;
  std::string latency;           // JSON, of the format "latency": its machines and rows; else empty
  std::filesystem::path output;  // `file` of the request
  int exit = 0;                  // that of Error{content}: not met; of Error{not_found}: there is no such metric
};

ReportRecord report(Session& session, const ReportRequest& request, EventSink& events, std::stop_token stop = {});
[[nodiscard]] std::string to_json(const ReportRecord& record);

struct ReportFormat {
  std::string name;
  bool takes_fields = false;
};
[[nodiscard]] std::vector<ReportFormat> report_formats();  // the first one is written where none is named

}  // namespace sabath
