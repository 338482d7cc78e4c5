// Artifacts in registries by oci://: listed by their manifests, read by digest, with the login that podman or docker
// keep for the registry, if there is one.
#pragma once

#include <memory>

#include "curl/transport.h"
#include "sabath/credentials.h"
#include "sabath/fetcher.h"

namespace sabath {

[[nodiscard]] std::unique_ptr<Fetcher> make_oci_fetcher(RegistrySettings settings,
                                                        std::shared_ptr<Transport> transport);

}  // namespace sabath
