// Compiled Python modules that hold the time of their source: after a copy each import compiles anew, and who may write
// changes the tree by importing. One thread. Throws Error{storage}.
#pragma once

#include "manifest/manifest.h"
#include "sabath/event.h"
#include "store/store.h"

namespace sabath {

// Warns, with the remedy, if the asset has such modules. Reads three files at most; what is not here is passed over.
void warn_of_stale_modules(const Store& store, const Manifest& manifest, EventSink& events);

}  // namespace sabath
