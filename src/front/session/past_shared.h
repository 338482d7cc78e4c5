// Staging that reads the shared store and leaves it as it is: content that it lacks goes from the origin to the nodes'
// own stores.
#pragma once

#include <stop_token>

#include "sabath/comm.h"
#include "sabath/session.h"
#include "stage/stage.h"

namespace sabath {

// Throws Error{usage} for a request that cannot be met this way.
void check_past_shared(const StageRequest& request, const Comm& comm);

// Collective. One asset; `recipe` is rank 0's, nullptr elsewhere. Throws the same Error on all ranks.
[[nodiscard]] Staged stage_past_shared(const SessionSettings& settings, Comm& comm, const StageRequest& request,
                                       const Recipe* recipe, EventSink& events, const std::stop_token& stop);

}  // namespace sabath
