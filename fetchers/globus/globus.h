// Globus collections: globus://COLLECTION/path. A collection's own HTTPS server is read by ranges; where there is none,
// the Transfer API delivers to a collection that this machine sees as a directory, and the file is read there. Listings
// come from the same API. docs/globus.md is what users are told.
#pragma once

#include <memory>

#include "curl/transport.h"
#include "sabath/fetcher.h"

namespace sabath {

[[nodiscard]] std::unique_ptr<Fetcher> make_globus_fetcher(const FetcherSettings& settings,
                                                           std::shared_ptr<Transport> transport);

}  // namespace sabath
