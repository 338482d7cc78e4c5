// A prefix that conda has filled, made an environment for one place: files that name the prefix get that place
// instead. What conda keeps for itself is left out. The prefix stays as it is. One thread. Throws what packing throws,
// Error{invalid} for a file that has no room for the place, or a prefix that was moved.
#pragma once

#include <filesystem>
#include <string>

#include "packing/pack_environment.h"

namespace sabath {

[[nodiscard]] bool is_conda_prefix(const std::filesystem::path& prefix);
// `place`: as checked_place() gives it. `name`: of the asset, for messages.
[[nodiscard]] PackedTree pack_conda_prefix(Programs& programs, const PackOrder& order, const std::string& place,
                                           const std::string& name);

}  // namespace sabath
