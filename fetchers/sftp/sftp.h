// The sftp fetcher: ranges of files by the SSH file transfer protocol, with the user's own ssh configuration, keys and
// known hosts. scp:// is the same said plainly: what is copied is named the same way, and servers retire the old scp.
#pragma once

#include <memory>

#include "sabath/fetcher.h"

namespace sabath {

[[nodiscard]] std::unique_ptr<Fetcher> make_sftp_fetcher(const FetcherSettings& settings);

}  // namespace sabath
