// Messages for sources that give something else than a manifest names. Free functions; any thread.
#pragma once

#include <string>

#include "manifest/manifest.h"
#include "store/store.h"

namespace sabath {

[[noreturn]] void refuse_unprovable_part(const std::string& asset);
// Throws Error{content} if the part has an entry that the whole has not.
void refuse_unless_part(const std::string& asset, const Manifest& whole, const Manifest& part);
// Throws Error{content}, with the first entries that differ as far as the store has what was got.
[[noreturn]] void refuse_other_root(const Store& store, const std::string& asset, const Manifest& expected,
                                    const Sha256& got);

}  // namespace sabath
