// The formats of a report: each exporter is a constant in a file of its own, and a line of the table in exporters.cc.
// Any thread. Writing throws what the exporter's work throws: Error{storage}, {space}, {command}; {usage} and
// {not_found} if the runs lack something that it needs.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/reader.h"
#include "report/run.h"

namespace sabath {

struct ExportOptions {
  std::vector<std::string> metrics;  // to show; empty: what choose_shown() takes
  MetricReaderOptions reader;        // as the runs were loaded
  // What an export says and the record does not, by key (mlperf_log.cc); of exporters that take fields.
  std::map<std::string, std::string> fields{};
  std::filesystem::path directory{};  // of Target::directory
  bool utf8 = true;
  bool all_rows = false;  // also the middle of a long table
  std::stop_token stop{};
};

// The receiver of an exporter's output.
class ExportSink {
 public:
  virtual ~ExportSink() = default;
  virtual void write(std::string_view text) = 0;
  virtual void say(std::string_view line) = 0;  // to people, beside the report
  // The file's place until it is whole: a program may fill it instead of write(). Only of Target::file.
  [[nodiscard]] virtual std::filesystem::path file() const = 0;
};

struct Exporter {
  enum class Target : std::uint8_t {
    any,        // a file, or standard output
    file,       // bytes that are not for a terminal
    directory,  // the exporter makes what is in it
  };
  std::string_view name;                      // "html"
  std::array<std::string_view, 2> endings{};  // of files that mean it: ".html"
  Target target = Target::any;
  bool one_run_only = false;
  bool takes_fields = false;
  bool reads_again = false;  // for_each_metric(): it takes runs that are too large
  void (*write)(std::span<const Run> runs, const ExportOptions& options, ExportSink& sink);
};

// In the order of the help text; the first one is the default.
[[nodiscard]] std::span<const Exporter* const> exporters();
// Throws Error{usage} for a name that none has.
[[nodiscard]] const Exporter& exporter_named(std::string_view name);
// The one that the file's ending means, the first for a file without one. Throws Error{usage} for another ending.
[[nodiscard]] const Exporter& exporter_for(const std::filesystem::path& file);

}  // namespace sabath
