// The sabath and sabath+tls fetcher: content of another store, served by `sabath serve` (docs/serving.md). Plain GET,
// judged as HTTP's answers are; a store has no redirects. (The folder is not called sabath: <sabath/...> is taken.)
#pragma once

#include <memory>

#include "curl/transport.h"
#include "sabath/fetcher.h"

namespace sabath {

[[nodiscard]] std::unique_ptr<Fetcher> make_peer_fetcher(std::shared_ptr<Transport> transport);

}  // namespace sabath
