// What goes along to a program that is asked about the machine: no variable that leads it to what another account can
// write, and none that makes an interpreter run a text. Any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sabath/environment.h"
#include "software/owners.h"

namespace sabath {

// PATH and LD_LIBRARY_PATH keep their trusted directories; another variable goes along whole, or not at all.
[[nodiscard]] std::map<std::string, std::string> variables_for_programs(const Environment& environment,
                                                                        const TrustedOwners& owners);

// "LMOD_PACKAGE_PATH names /proj/x, owned by uid 7, ...": the first variable of this prefix that does; nullopt: none.
[[nodiscard]] std::optional<std::string> place_of_others(const Environment& environment, const TrustedOwners& owners,
                                                         std::string_view prefix);

}  // namespace sabath
