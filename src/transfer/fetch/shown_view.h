// The view of an asset that a user asked for, made only where there is room for it: each entry takes an inode, and a
// file of a pack is copied. One thread. Throws Error{space} with the numbers, Error{storage}, Error{content}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "fetch/hosts/space_guard.h"
#include "manifest/manifest.h"
#include "store/store.h"

namespace sabath {

[[nodiscard]] std::uint64_t view_inodes(const Manifest& manifest);  // that a view of it takes

// The view that stands, or a new one. `name`: of the asset, for people.
std::filesystem::path show_view(Store& store, SpaceGuard& space, const Manifest& manifest, const std::string& name);

}  // namespace sabath
