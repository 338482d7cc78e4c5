// Where runs stand, and which runs of a sweep are done. One thread. Throws Error{usage}, Error{storage}.
#pragma once

#include <filesystem>
#include <string>

#include "cli/run_request.h"

namespace sabath::cli {

// The directory of a single run, or of all runs of a sweep. A sweep that is asked for again finds its directory.
[[nodiscard]] std::filesystem::path place_of(const RunRequest& request, const RunOptions& options);

// True if the run stands there, finished; what is there unfinished is moved aside, never away.
[[nodiscard]] bool done_before(const std::filesystem::path& directory);

}  // namespace sabath::cli
