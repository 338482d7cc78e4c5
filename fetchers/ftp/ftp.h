// The ftp fetcher: anonymous, passive, binary; ranges by REST, size by SIZE, version by MDTM.
#pragma once

#include <memory>

#include "curl/transport.h"
#include "sabath/fetcher.h"

namespace sabath {

[[nodiscard]] std::unique_ptr<Fetcher> make_ftp_fetcher(std::shared_ptr<Transport> transport);

}  // namespace sabath
