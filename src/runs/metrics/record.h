// A metric as one line of a run's record (docs/runs.md). A metric is read back as it was written, bit for bit, but for
// bytes of its name that are not UTF-8. Pure; any thread; no throw.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sabath/metric.h"

namespace sabath {

// {"time":1.5,"epoch":3,"step":null,"rank":0,"name":"loss","value":0.25}; without a newline.
[[nodiscard]] std::string metric_json(const Metric& metric);
[[nodiscard]] std::optional<Metric> try_metric_json(std::string_view line);

// A row of metrics.csv (RFC 4180), without a newline; what is absent is empty.
inline constexpr std::string_view metric_csv_head = "time,epoch,step,rank,name,value";
[[nodiscard]] std::string metric_csv(const Metric& metric);

// The shortest text that gives this number again; "NaN", "Infinity" and "-Infinity" for what JSON has no number for.
[[nodiscard]] std::string number_text(double value);
[[nodiscard]] std::string number_json(double value);  // the same, those three in quotes

// A name for CSV: in quotes where it must be, and with an apostrophe where a spreadsheet would run it.
[[nodiscard]] std::string csv_cell(std::string_view text);

}  // namespace sabath
