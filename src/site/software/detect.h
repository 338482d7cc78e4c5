// A profile of the machine that this process runs on. One thread. Throws Error{interrupted}.
#pragma once

#include <string>

#include "sabath/verbs/site.h"
#include "software/programs.h"

namespace sabath {

[[nodiscard]] SiteProfile detect_profile(Programs& programs, std::string name);

// What can be chosen on it: its software, and the packages of its interpreters.
[[nodiscard]] std::vector<Software> table_of(const SiteProfile& profile);

}  // namespace sabath
