// Objects of Git LFS by their content's SHA-256: where an object is, its server says each time anew.
#pragma once

#include <memory>

#include "curl/transport.h"
#include "sabath/fetcher.h"

namespace sabath {

[[nodiscard]] std::unique_ptr<Fetcher> make_lfs_fetcher(std::shared_ptr<Transport> transport);

}  // namespace sabath
