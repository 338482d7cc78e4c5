// Hugging Face's hub, and others that speak like it: models and datasets by hf://, listed at one commit, read by the
// hub's own URLs. A token goes to the hub and to nobody whom it redirects to.
#pragma once

#include <memory>

#include "curl/transport.h"
#include "sabath/fetcher.h"

namespace sabath {

[[nodiscard]] std::unique_ptr<Fetcher> make_hf_fetcher(const HubSettings& settings,
                                                       std::shared_ptr<Transport> transport);

}  // namespace sabath
