// Which modules a run loads for the needs of its recipe. One thread. Throws Error{not_found}, Error{invalid}.
#pragma once

#include <string>
#include <vector>

#include "harness/resolved_run.h"
#include "sabath/verbs/site.h"

namespace sabath {

// What the site profile has to choose from; none: there is no profile, or it has none.
[[nodiscard]] std::vector<Software> site_software(const RunCall& call);

// What a lock chose. Without one: what the site profile's `modules` says for a need counts, and the others are solved
// together by the profile's `software`; a profile without any leaves them as they are.
[[nodiscard]] std::vector<std::string> modules_of(const RunCall& call, const ResolvedRun& run);

}  // namespace sabath
