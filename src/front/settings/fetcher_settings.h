// Tokens of web services and external programs, from the environment and the configuration files. Pure; any thread.
// Throws Error{usage}.
#pragma once

#include <filesystem>
#include <vector>

#include "sabath/configuration.h"
#include "sabath/credentials.h"
#include "sabath/environment.h"
#include "settings/config_file.h"

namespace sabath {

// `files`: the user's, then the site's. What is found is also told by `settings`; tokens are not.
[[nodiscard]] WebSettings web_settings(const Environment& environment, const std::vector<const ConfigFile*>& files,
                                       std::vector<ConfigurationEntry>& settings);
[[nodiscard]] GlobusSettings globus_settings(const std::vector<const ConfigFile*>& files,
                                             std::vector<ConfigurationEntry>& settings);
[[nodiscard]] CommandSettings command_settings(const Environment& environment,
                                               const std::vector<const ConfigFile*>& files,
                                               const std::filesystem::path& store,
                                               std::vector<ConfigurationEntry>& settings);

}  // namespace sabath
