// `sabath stage --simulate`: what staging would take on a machine that is described, and not here. Main thread; throws
// Error{usage} for a description that makes no sense.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/verb.h"
#include "sabath/stage.h"
#include "stage/simulate.h"

namespace sabath::cli {

// "nodes=9408,shared=500G,link=25G,...": docs/simulation.md has the keys. No `size`: the asset's is to be filled in.
[[nodiscard]] StageModel parse_stage_model(std::string_view text);

// Prints the curve; the request says which asset, how many readers and threads. Returns the exit code.
int simulate_staging(Context& context, std::string_view model, const StageRequest& request);

}  // namespace sabath::cli
