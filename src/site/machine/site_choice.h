// Where profiles of sites are, and which of them is this host's. docs/running.md. Any thread. Throws Error{not_found},
// Error{invalid}, Error{storage}.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "machine/site.h"
#include "sabath/environment.h"

namespace sabath {

// The user's, the system's, and those that come with the program, whose file is `program`.
[[nodiscard]] std::vector<std::filesystem::path> site_directories(const Environment& environment,
                                                                  const std::filesystem::path& program);

// `asked`: a name or a path; empty: SABATH_SITE, else the first that is of this host. Empty: no profile is of it.
[[nodiscard]] std::filesystem::path find_site_file(const Environment& environment, const std::filesystem::path& program,
                                                   const std::string& asked);

// The same over the profile `generic`. `check` is asked about each of the two before it is read, and may throw.
[[nodiscard]] Site choose_site(const Environment& environment, const std::filesystem::path& program,
                               const std::string& asked,
                               const std::function<void(const std::filesystem::path& file)>& check = {});

}  // namespace sabath
