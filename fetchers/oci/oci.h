// Artifacts in registries by oci://: listed by their manifests, read by digest. Tokens that anybody is given are
// fetched; logins are not known here.
#pragma once

#include <memory>

#include "curl/transport.h"
#include "sabath/fetcher.h"

namespace sabath {

[[nodiscard]] std::unique_ptr<Fetcher> make_oci_fetcher(std::shared_ptr<Transport> transport);

}  // namespace sabath
