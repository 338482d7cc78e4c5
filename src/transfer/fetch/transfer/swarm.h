// The lanes: a bounded set of threads that fetch files, whole or by runs of chunks. Blocks its caller.
#pragma once

#include <vector>

#include "fetch/decide/job.h"
#include "fetch/hosts/context.h"

namespace sabath {

// Fetches all jobs; one outcome for each, in their order. All objects are published when it returns. Throws what is
// fatal (no space, storage, a stop request) after every lane has ended; what was verified until then stays.
[[nodiscard]] std::vector<FileOutcome> fetch_all(FetchContext& context, const std::vector<FileJob>& jobs);

}  // namespace sabath
