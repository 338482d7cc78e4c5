// Where a store keeps what files of an asset say of themselves (store/facts.h); layout.cc makes these names, too.
#pragma once

#include "store/disk/layout.h"

namespace sabath {

[[nodiscard]] std::filesystem::path facts_room(const Layout& layout);
[[nodiscard]] std::filesystem::path facts_file(const Layout& layout, const Sha256& root);  // facts/<64 hex>

}  // namespace sabath
