// Checks everything of a store but its objects: manifests, refs, aliases, indexes, pins, logs and journals. Private to
// src/storage/store. One thread. Throws Error{space}, Error{storage}.
#pragma once

#include <vector>

#include "manifest/manifest.h"
#include "store/verify/scrub.h"

namespace sabath {

// Reports damage to `scrub`. Puts damaged manifests, refs, aliases and indexes aside: they can be learnt again. Writes
// a damaged pin anew, as its name alone keeps the root. Keeps the good records of dead writers' logs and journals.
// Returns the good manifests.
std::vector<Manifest> check_names(Store::State& store, Scrub& scrub);

}  // namespace sabath
