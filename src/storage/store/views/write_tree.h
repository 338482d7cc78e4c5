// An asset written out as a tree outside the store. Free function; one thread. Throws Error{usage} if something stands
// there, Error{storage}, Error{space}, Error{content}.
#pragma once

#include <filesystem>

#include "store/store.h"

namespace sabath {

// Every file must be present. `to` does not exist, or is an empty directory; it appears whole or not at all.
void write_tree(Store& store, const Manifest& manifest, const std::filesystem::path& to, TreeFiles files);
// Whether such a tree stands there, whole. Reads what no evidence tells of. What else stands there does not matter.
[[nodiscard]] bool tree_stands(Store& store, const Manifest& manifest, const std::filesystem::path& to,
                               TreeFiles files);

}  // namespace sabath
