// What a report says of a run, as a table: the verb's record and the JSON report have it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "fields/fields.h"
#include "sabath/verbs/report.h"

namespace sabath {

inline constexpr std::size_t reported_text_bytes_max = 1 << 16;

[[nodiscard]] Json reported_recipe(const ReportedRun& run);  // null: no record
[[nodiscard]] Json reported_assets(const ReportedRun& run);

template <>
struct Described<ReportedSeries> {
  using Of = ReportedSeries;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "as the log calls it", .printable_max = reported_text_bytes_max),
      SABATH_FIELD(x, .help = "epochs or steps", .any_number = true),
      SABATH_FIELD(y, .help = "the value of each", .any_number = true),
      SABATH_FIELD(first, .help = "of the values that are numbers", .any_number = true),
      SABATH_FIELD(last, .help = "of all values", .any_number = true),
      SABATH_FIELD_AS("min", least, .help = "of the values that are numbers", .any_number = true),
      SABATH_FIELD_AS("max", greatest, .help = "of the values that are numbers", .any_number = true),
      SABATH_FIELD(mean, .help = "of the values that are numbers", .any_number = true),
  };
};

template <>
struct Described<ReportedRun> {
  using Of = ReportedRun;
  static std::string_view unit_of(const ReportedRun& run) { return run.by_step ? "step" : "epoch"; }
  static const std::vector<ReportedSeries>* series_of(const ReportedRun& run) {
    return run.too_large ? nullptr : &run.series;
  }
  static const std::vector<std::pair<std::string, double>>* figures_of(const ReportedRun& run) {
    return run.too_large ? nullptr : &run.figures;
  }
  static constexpr Field table[] = {
      SABATH_FIELD_AS("run", label, .help = "its name among the runs of the report",
                      .printable_max = reported_text_bytes_max),
      SABATH_FIELD(path, .help = "what was read", .printable_max = reported_text_bytes_max),
      SABATH_FIELD(state, .help = "finished, failed, interrupted or running; null: no record of a run",
                   .null_if_empty = true),
      SABATH_FIELD(exit, .help = "of its last program"),
      SABATH_FIELD(seconds, .help = "from the first to the last sign of it", .unit = "seconds", .any_number = true),
      SABATH_VALUE("recipe", reported_recipe, .help = "as run.json has it"),
      SABATH_VALUE("assets", reported_assets, .help = "as run.json has them"),
      SABATH_VALUE("by", unit_of, .help = "what x counts: epoch or step"),
      SABATH_FIELD(values, .help = "printed in all"),
      SABATH_FIELD(not_understood, .help = "look like metrics and are none", .unit = "lines"),
      SABATH_VALUE("metrics", series_of, .help = "one value for each epoch or step; null: too many to be kept"),
      SABATH_VALUE("figures", figures_of, .help = "of no epoch, by their names; null as well", .any_number = true,
                   .printable_max = reported_text_bytes_max),
  };
};

}  // namespace sabath
