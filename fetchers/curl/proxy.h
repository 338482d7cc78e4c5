// Which proxy asks for a URL, by the user's variables: as libcurl reads them, which git and curl do, too. Pure.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "sabath/url.h"

namespace sabath {

// All that are looked at here. A program that asks instead of us gets them, and no others.
inline constexpr std::array<std::string_view, 11> proxy_variables = {
    "http_proxy", "https_proxy", "HTTPS_PROXY", "ftp_proxy", "FTP_PROXY", "ftps_proxy",
    "FTPS_PROXY", "all_proxy",   "ALL_PROXY",   "no_proxy",  "NO_PROXY"};

// http_proxy (in small letters only), https_proxy, ftp_proxy, all_proxy, unless no_proxy names the host: a name stands
// for all hosts below it, ADDRESS/BITS for a network, "*" for all. Empty: none.
[[nodiscard]] std::string proxy_for(const Url& url, const std::map<std::string, std::string>& environment);

}  // namespace sabath
