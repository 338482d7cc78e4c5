// Which proxy asks for a URL, by the user's variables: as libcurl reads them, which git and curl do, too. Pure.
#pragma once

#include <map>
#include <string>

#include "sabath/url.h"

namespace sabath {

// http_proxy (in small letters only), https_proxy, ftp_proxy, all_proxy, unless no_proxy names the host: a name stands
// for all hosts below it, ADDRESS/BITS for a network, "*" for all. Empty: none.
[[nodiscard]] std::string proxy_for(const Url& url, const std::map<std::string, std::string>& environment);

}  // namespace sabath
