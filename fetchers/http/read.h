// One read by HTTP, redirects followed: for every fetcher whose bytes come from a web server, however it learnt the
// URL. Blocking; any thread. Throws Error as a fetcher does; its message also names what the user named.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "curl/transport.h"
#include "sabath/error.h"
#include "sabath/fetcher.h"

namespace sabath {

struct WebPlace {
  Url url;
  std::vector<std::string> private_headers = {};  // for the origin of `url` only: credentials
  std::string access_hint = {};                   // what to do where access is refused; empty: what HTTP says
  bool hub = false;                               // its ETags are hashes of the content
};

// request.url is what the user named.
void read_web(Transport& transport, const WebPlace& place, const ReadRequest& request, Sink& sink, Traffic& traffic,
              const std::stop_token& stop);

// The failure of a question that is part of reading `url`: it speaks of a URL that the user may never have seen.
[[nodiscard]] Failure named(Failure failure, const Url& url);
template <typename Act>
auto named(const Url& url, Act act) -> decltype(act()) {
  try {
    return act();
  } catch (const Error& error) {
    throw Error(named(error.failure(), url));
  }
}

}  // namespace sabath
