// The s3 fetcher: objects by s3://bucket/key, anonymous or signed, from Amazon or any server that speaks like it.
#pragma once

#include <memory>

#include "curl/transport.h"
#include "sabath/fetcher.h"

namespace sabath {

[[nodiscard]] std::unique_ptr<Fetcher> make_s3_fetcher(const S3Settings& settings,
                                                       std::shared_ptr<Transport> transport);

}  // namespace sabath
