// Every metric as a row; of several runs with the run in front.
#include <fmt/format.h>

#include "metrics/record.h"
#include "report/exporter.h"

namespace sabath {
namespace {

void write_csv(std::span<const Run> runs, const ExportOptions& options, ExportSink& sink) {
  const bool several = runs.size() > 1;
  sink.write(fmt::format("{}{}\n", several ? "run," : "", metric_csv_head));
  for (const Run& run : runs) {
    const std::string front = several ? csv_cell(run.label) + "," : std::string{};
    for_each_metric(run.path, options.reader,
                    [&](const Metric& metric) { sink.write(front + metric_csv(metric) + "\n"); });
  }
}

}  // namespace

extern constexpr Exporter csv_exporter{.name = "csv", .endings = {".csv"}, .reads_again = true, .write = write_csv};

}  // namespace sabath
