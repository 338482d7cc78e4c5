// The modules of a machine: Lmod's and environment-modules', as they say it themselves or as their files do, and what
// Spack and EasyBuild have installed. One thread. Throws Error{interrupted}.
#pragma once

#include "sabath/verbs/site.h"
#include "software/programs.h"

namespace sabath {

// Adds to `software`, `machine` and `passed_over`; sets `module_script`.
void detect_modules(Programs& programs, SiteProfile& profile);

// Names of `module -t avail` of either system; lines that name no module are passed over. Pure.
[[nodiscard]] std::vector<std::string> parse_terse_avail(std::string_view text);

}  // namespace sabath
