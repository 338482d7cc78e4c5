// A site profile as text: what `detect` prints, a person edits, and `run` reads. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sabath/verbs/site.h"

namespace sabath {

inline constexpr std::size_t profile_bytes_max = 64U << 20U;

// A line for each element of a list. Keys that only a person writes are there, and empty.
[[nodiscard]] std::string text_of_profile(const SiteProfile& profile);

// Throws Error{invalid}: "ORIGIN:LINE: ...". `modules`, `launchers` and `containers` are not looked at.
[[nodiscard]] SiteProfile parse_profile(std::string_view json, const std::string& origin);

[[nodiscard]] std::vector<SiteDifference> differences_of(const SiteProfile& before, const SiteProfile& after);

}  // namespace sabath
