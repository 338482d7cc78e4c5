// Tells which chunks of partial content have arrived, by its writers' journals: for planning. Reads no content, and
// opens nothing for writing. Any thread. Throws Error{storage}.
#pragma once

#include <span>
#include <vector>

#include "store/store.h"

namespace sabath {

// By chunk, as the journals say; not checked. A fetch reads those chunks first.
[[nodiscard]] std::vector<bool> chunks_arrived(Store& store, const Digest& file, std::span<const Sha256> chunks);

}  // namespace sabath
