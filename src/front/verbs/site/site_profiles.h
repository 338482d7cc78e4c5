// Profiles of sites by name, and the one of this machine. One thread. Throws Error{not_found}, Error{invalid},
// Error{access}, Error{interrupted}.
#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>

#include "sabath/verbs/site.h"

namespace sabath {

// Empty: `name` is empty, and no profile is of this host.
[[nodiscard]] std::filesystem::path profile_file(Session& session, const Environment& environment,
                                                 const std::string& name);
[[nodiscard]] SiteProfile read_profile(Session& session, const std::filesystem::path& file);
[[nodiscard]] SiteProfile profile_of_here(Session& session, const Environment& environment,
                                          std::chrono::seconds patience, const std::string& name,
                                          const std::stop_token& stop);

}  // namespace sabath
