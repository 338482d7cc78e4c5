// What has arrived of content on its way, by what its writers noted: for planning. Nothing is read of the content, and
// nothing is opened for writing. Any thread. Throws Error{storage}.
#pragma once

#include <span>
#include <vector>

#include "store/store.h"

namespace sabath {

// By chunk. Believed as journals say it; whoever fetches reads those chunks first.
[[nodiscard]] std::vector<bool> chunks_arrived(Store& store, const Digest& file, std::span<const Sha256> chunks);

}  // namespace sabath
