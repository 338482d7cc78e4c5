// by-name/NAME: a symlink for people, to the view of an asset, or to the object of an asset that is one file. SABATH
// never follows one, and a link that cannot be written is no error. One thread. Throws Error{storage}.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "manifest/manifest.h"
#include "store/state.h"

namespace sabath {

void link_by_name(Store& store, const std::string& name, const Manifest& manifest) noexcept;
[[nodiscard]] std::vector<std::filesystem::path> lost_links(const Store::State& store);  // that this user may remove

}  // namespace sabath
