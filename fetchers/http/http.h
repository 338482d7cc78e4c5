// The http and https fetcher: GET over kept HTTP/1.1 connections, ranges checked strictly, redirects followed by hand.
#pragma once

#include <memory>

#include "curl/transport.h"
#include "sabath/fetcher.h"

namespace sabath {

[[nodiscard]] std::unique_ptr<Fetcher> make_http_fetcher(std::shared_ptr<Transport> transport);

}  // namespace sabath
