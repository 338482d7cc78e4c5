// Tokens of web services and external programs, from the environment and the configuration files. Pure; any thread.
// Throws Error{usage}.
#pragma once

#include <filesystem>
#include <vector>

#include "cli/config_file.h"
#include "cli/configuration.h"
#include "cli/environment.h"
#include "sabath/credentials.h"

namespace sabath::cli {

// `files`: the user's, then the site's. What is found is also told by `settings`; tokens are not.
[[nodiscard]] WebSettings web_settings(const Environment& environment, const std::vector<const ConfigFile*>& files,
                                       std::vector<Setting>& settings);
[[nodiscard]] GlobusSettings globus_settings(const std::vector<const ConfigFile*>& files,
                                             std::vector<Setting>& settings);
[[nodiscard]] CommandSettings command_settings(const Environment& environment,
                                               const std::vector<const ConfigFile*>& files,
                                               const std::filesystem::path& store, std::vector<Setting>& settings);

}  // namespace sabath::cli
