// A call of `apply`, from the request to the new asset: looked up by its key, made by all ranks, named, shown.
// Collective, if the session has ranks; the main thread. Throws as sabath/apply.h says.
#pragma once

#include <stop_token>

#include "sabath/apply.h"

namespace sabath {

[[nodiscard]] ApplyRecord derive(Session& session, const ApplyRequest& request, EventSink& events,
                                 std::stop_token stop);

}  // namespace sabath
