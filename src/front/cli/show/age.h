// Spans of time as people write them: "30d", "12h", "90m", "45s", "2w". Pure; any thread. Throws Error{usage}.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace sabath::cli {

[[nodiscard]] std::string format_span(std::chrono::seconds span);  // in its largest whole unit: "30d", "12h"

// "3 days ago", of a time in nanoseconds since 1970.
[[nodiscard]] std::string format_ago(std::int64_t then_ns, std::int64_t now_ns);

// "2026-12-29", of a time in nanoseconds since 1970.
[[nodiscard]] std::string format_day(std::int64_t time_ns);

}  // namespace sabath::cli
