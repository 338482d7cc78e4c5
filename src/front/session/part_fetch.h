// Parts of an asset's files fetched by the nodes of a staging job, each into its own store.
#pragma once

#include <vector>

#include "sabath/comm.h"
#include "sabath/event.h"
#include "sabath/session.h"
#include "stage/from_origin.h"

namespace sabath {

// The rules for hosts that a recipe states.
[[nodiscard]] std::vector<HostRule> rules_of(const Recipe& recipe);

// Collective. `recipe`: rank 0's, nullptr elsewhere; all ranks learn the sources of its files. Empty if the files
// cannot be fetched one by one (archives, lists, git), or not at all (offline). `settings` and `events` outlive it.
[[nodiscard]] FetchPart make_part_fetch(Comm& comm, const SessionSettings& settings, const Recipe* recipe,
                                        EventSink& events);

}  // namespace sabath
