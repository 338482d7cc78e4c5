// Runs as JSON records, for --json and --format json; docs/runs.md. Pure; any thread.
#pragma once

#include "report/run.h"
#include "sabath/verbs/report.h"

namespace sabath {

[[nodiscard]] ReportedRun reported_run(Run run);  // reported_fields.h has its table

}  // namespace sabath
