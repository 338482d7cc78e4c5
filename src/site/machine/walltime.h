// The time at which this process will be ended: by --deadline, else by the batch system. Throws Error{usage} for a
// --deadline that makes no sense; a batch system that gives no time sets no bound.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sabath/environment.h"
#include "sabath/session_settings.h"

namespace sabath {

// Of SessionSettings::deadline. `option`: "2h30m", "1-02:03:04" (as Slurm writes spans), "2026-11-21T18:00" (of this
// machine's zone, or with one), "none". The batch system is asked when the result is called, not before.
[[nodiscard]] std::function<std::optional<Deadline>()> deadline_of(const Environment& environment,
                                                                   const std::optional<std::string>& option);

// "45", "45m", "1h30m", "90:00", "02:03:04", "1-02:03:04" as seconds; a bare number is nothing. Pure.
[[nodiscard]] std::optional<std::int64_t> try_parse_span(std::string_view text);

}  // namespace sabath
