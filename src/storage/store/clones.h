// Clones of git repositories in the store. Git does what the settings of a clone say. Any thread.
#pragma once

#include <filesystem>

#include "sabath/digest.h"

namespace sabath {

class Store;

// True if this user made it, and no other member may write into it.
[[nodiscard]] bool has_own_clone(Store& store, const Sha256& source_key);
// For a tree whose files another program made. Throws Error{storage}.
void close_to_members(Store& store, const std::filesystem::path& tree);

}  // namespace sabath
