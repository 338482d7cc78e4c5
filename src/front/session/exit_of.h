// The exit code of a whole fetch: the rules of docs/exit-codes.md. Pure; any thread.
#pragma once

#include <vector>

#include "sabath/session.h"
#include "sabath/verbs/fetch.h"

namespace sabath {

// One kind of failure gives its code; 8 only when some is done and the codes differ. The end of the whole call wins.
[[nodiscard]] int exit_of(const std::vector<AssetRecord>& assets);

}  // namespace sabath
