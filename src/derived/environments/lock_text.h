// The locks that SABATH writes: the same bytes for the same packages, in every directory, for every user. Pure; any
// thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "environments/choose.h"
#include "environments/wheel_target.h"

namespace sabath {

// pylock.toml (PEP 751): one wheel a package, for this target alone; pip and uv install from it.
[[nodiscard]] std::string pylock_text(std::span<const ChosenPackage> packages, const WheelTarget& target);
// conda-lock.yml, version 1; Python packages stand in it with `manager: pip`.
[[nodiscard]] std::string conda_lock_text(std::span<const ChosenPackage> packages,
                                          std::span<const std::string> channels, const WheelTarget& target);
[[nodiscard]] bool is_own_lock(std::string_view text);  // that SABATH wrote: it may be written anew

}  // namespace sabath
