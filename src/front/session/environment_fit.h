// Whether the nodes of a job can run a packed environment that is staged. Throws Error{command} where one cannot.
#pragma once

#include "sabath/comm.h"
#include "sabath/event.h"
#include "sabath/recipe.h"
#include "sabath/session_settings.h"
#include "sabath/verbs/stage.h"

namespace sabath {

// Collective. Before anything is staged, and once more behind it: `staged` says that the store must have its note.
// `recipe` is rank 0's. The second time rank 0 warns of what its node lacks, and what few programs need. Throws
// Error{not_found} for an asset that is no environment.
void check_environment_fits(Comm& comm, const SessionSettings& settings, const Recipe* recipe, bool staged,
                            EventSink& events);
// Throws Error{usage} for what gives a node less than the whole.
void check_environment_mode(const StageRequest& request);

}  // namespace sabath
