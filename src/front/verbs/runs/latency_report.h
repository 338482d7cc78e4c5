// The report of latencies: of assets that conversions made, of runs, and of latency.json files of other machines.
// Throws what report() throws.
#pragma once

#include <stop_token>

#include "sabath/event.h"
#include "sabath/verbs/report.h"

namespace sabath {

inline constexpr std::string_view latency_format = "latency";

[[nodiscard]] ReportRecord report_latencies(Session& session, const ReportRequest& request, EventSink& events);

}  // namespace sabath
