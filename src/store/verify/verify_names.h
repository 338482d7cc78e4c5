// Everything of a store but its objects, looked at: manifests, refs, aliases, indexes, pins, logs and journals. Private
// to src/store. One thread. Throws Error{space}, Error{storage}.
#pragma once

#include <vector>

#include "manifest/manifest.h"
#include "store/verify/scrub.h"

namespace sabath {

// What is damaged is told to `scrub`. Manifests, refs, aliases and indexes are put aside: they can be learnt again. A
// damaged pin is written anew, for its name alone keeps. Of logs and journals of dead writers the good records are
// kept. Returns the good manifests.
std::vector<Manifest> check_names(Store::State& store, Scrub& scrub);

}  // namespace sabath
