// The Pythons of PATH with their packages. One thread. Throws Error{interrupted}.
#pragma once

#include <optional>
#include <string_view>

#include "sabath/verbs/site.h"
#include "software/programs.h"

namespace sabath {

void detect_interpreters(Programs& programs, SiteProfile& profile);

// "VERSION", then a line "NAME==VERSION" for each package. Pure. nullopt: the text has another form.
[[nodiscard]] std::optional<SiteInterpreter> parse_python_answer(std::string_view text);

// A row for each package, so that it can be chosen.
[[nodiscard]] std::vector<Software> software_of(const SiteInterpreter& interpreter);

}  // namespace sabath
