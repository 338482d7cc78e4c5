// A call of `apply`, from the request to the new asset: looked up by its key, made by all ranks, named, shown.
// Collective, if the caller has ranks; the main thread. Throws as sabath/verbs/apply.h says.
#pragma once

#include <stop_token>

#include "holdings/calling_session.h"
#include "sabath/event.h"
#include "sabath/verbs/apply.h"

namespace sabath {

[[nodiscard]] ApplyRecord derive(const CallingSession& caller, const ApplyRequest& request, EventSink& events,
                                 std::stop_token stop);

}  // namespace sabath
