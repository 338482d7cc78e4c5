// Where runs stand, and which runs of a sweep are done. One thread. Throws Error{usage}, Error{storage}.
#pragma once

#include <filesystem>
#include <string>

#include "harness/resolved_run.h"

namespace sabath {

// The directory of a single run, or of all runs of a sweep. A sweep that is asked for again finds its directory.
[[nodiscard]] std::filesystem::path place_of(const RunCall& call, const ResolvedRun& run);

// True if the run stands there, finished; what is there unfinished is moved aside, never away.
[[nodiscard]] bool done_before(const std::filesystem::path& directory);

}  // namespace sabath
