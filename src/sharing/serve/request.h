// What a request says, as libmicrohttpd has read it. Any thread; the views live as long as the request.
#pragma once

#include <microhttpd.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "sabath/secret.h"
#include "serve/hub_source.h"
#include "serve/reply.h"

namespace sabath {

// One request, from its first line on.
struct RequestHead {
  std::string method{}, target{};    // the target as it was written
  const char* target_end = nullptr;  // where it ends, if it has no NUL inside
  bool whole = false;                // it has none, and the version stands behind it
};

// What is answered to a request before anything is looked up. nullopt: it is sound, and asks to read.
struct Refusal {
  int status = 0;
  std::string_view why;
  const char* field = nullptr;  // of the answer's head
  const char* value = nullptr;
};
[[nodiscard]] std::optional<Refusal> refusal_of(MHD_Connection* connection, const RequestHead& head);
[[nodiscard]] bool has_body(MHD_Connection* connection);

// Takes the same time for every wrong token.
[[nodiscard]] bool equal(const Secret& token, std::string_view offered);
[[nodiscard]] std::string_view header(MHD_Connection* connection, const char* name);  // empty: it is absent
[[nodiscard]] int socket_of(MHD_Connection* connection);
[[nodiscard]] Conditions conditions_of(MHD_Connection* connection, const std::string& method);
[[nodiscard]] HubQuery hub_query_of(MHD_Connection* connection, const std::string& target, bool tls);

}  // namespace sabath
