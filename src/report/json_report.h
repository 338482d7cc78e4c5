// Runs as JSON records, for --json and --format json; docs/runs.md. Pure; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "report/run.h"
#include "sabath/report.h"

namespace sabath {

[[nodiscard]] ReportedRun reported_run(Run run);

// {"run","path","state","exit","by","values","metrics":[{"name","x","y","first","last","min","max","mean"}],"figures"}.
// A number that JSON has no text for is "NaN", "Infinity" or "-Infinity".
[[nodiscard]] nlohmann::ordered_json json_report(const ReportedRun& run);
// {"schema":1,"runs":[...]}
[[nodiscard]] nlohmann::ordered_json json_report(std::span<const Run> runs);
[[nodiscard]] nlohmann::ordered_json json_number(double value);

}  // namespace sabath
