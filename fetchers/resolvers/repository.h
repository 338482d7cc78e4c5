// Records of data repositories: zenodo:RECORD and doi:10.1234/ABC, with a pattern behind a further '/':
// zenodo:123/*.h5. Their files are read by https.
#pragma once

#include <memory>

#include "curl/transport.h"
#include "sabath/resolver.h"

namespace sabath {

[[nodiscard]] std::unique_ptr<Resolver> make_repository_resolver(std::shared_ptr<Transport> transport);

}  // namespace sabath
