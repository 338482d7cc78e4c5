// The places of this call's credentials, from the environment and the configuration files: names of files, sockets,
// profiles and hosts, and the keys that the environment itself holds. No ConfigurationEntry has such a key: keys are
// shown nowhere. Any thread.
#pragma once

#include <vector>

#include "sabath/configuration.h"
#include "sabath/credentials.h"
#include "sabath/environment.h"
#include "sabath/fetcher.h"
#include "settings/config_file.h"

namespace sabath {

// `files`: the user's, then the site's. What is found is also told by `settings`.
[[nodiscard]] SshSettings ssh_settings(const Environment& environment, const std::vector<const ConfigFile*>& files,
                                       std::vector<ConfigurationEntry>& settings);
[[nodiscard]] S3Settings s3_settings(const Environment& environment, const std::vector<const ConfigFile*>& files,
                                     std::vector<ConfigurationEntry>& settings);
[[nodiscard]] HubSettings hub_settings(const Environment& environment, std::vector<ConfigurationEntry>& settings);
[[nodiscard]] RegistrySettings registry_settings(const Environment& environment);

// Those that say when they end: an AWS session, and tokens that are JSON web tokens, read from their files anew. A
// keyring's program is not asked for that.
[[nodiscard]] std::vector<Credential> known_ends(const Environment& environment, const FetcherSettings& fetchers);

}  // namespace sabath
