// The directories of runs, and the runs of a sweep that are done. One thread. Throws Error{usage}, Error{storage}.
#pragma once

#include <filesystem>
#include <string>

#include "harness/resolved_run.h"

namespace sabath {

// The directory of a single run, or of all runs of a sweep. A sweep that is asked for again finds its directory.
[[nodiscard]] std::filesystem::path place_of(const RunCall& call, const ResolvedRun& run);

// True if a finished run stands there; an unfinished one is moved aside, never deleted.
[[nodiscard]] bool done_before(const std::filesystem::path& directory);

}  // namespace sabath
