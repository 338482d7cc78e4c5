// What a request says, as libmicrohttpd has read it. Any thread; the views live as long as the request.
#pragma once

#include <microhttpd.h>

#include <cstddef>
#include <string_view>

#include "sabath/secret.h"
#include "serve/hub_source.h"

namespace sabath {

// Takes the same time for every wrong token.
[[nodiscard]] bool equal(const Secret& token, std::string_view offered);
[[nodiscard]] std::string_view header(MHD_Connection* connection, const char* name);  // empty: it is absent
[[nodiscard]] int socket_of(MHD_Connection* connection);
[[nodiscard]] std::size_t head_size(MHD_Connection* connection);
[[nodiscard]] HubQuery hub_query_of(MHD_Connection* connection, bool tls);

}  // namespace sabath
