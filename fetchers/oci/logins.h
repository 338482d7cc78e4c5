// The logins that podman and docker keep (containers-auth.json(5)): `podman login HOST`. Any thread; files are read
// anew each time. Throws Error{access} for a file that others may read, Error{usage} for one that is no such file.
#pragma once

#include <optional>
#include <string>

#include "oci/registry.h"
#include "sabath/credentials.h"
#include "sabath/secret.h"

namespace sabath::oci {

// The text behind "Authorization: Basic "; nullopt: no file has one for this registry. The entry of a longer name wins:
// HOST/NAME before HOST.
[[nodiscard]] std::optional<Secret> try_find_login(const RegistrySettings& settings, const Place& place);

[[nodiscard]] std::string how_to_log_in(const Place& place);

}  // namespace sabath::oci
