// A whole answer of an HTTP server, for readers of listings and catalogues: asked by any method, redirects followed as
// the fetcher follows them. Blocking; any thread. Throws Error as a fetcher does.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "curl/transport.h"
#include "sabath/fetcher.h"

namespace sabath {

struct Question {
  Url url;
  std::string method = {};                        // empty: GET, or POST where there is a body
  std::vector<std::string> headers = {};          // for every hop: nothing that is meant for one server only
  std::vector<std::string> private_headers = {};  // for the origin of `url` only: credentials
  std::string body = {};
  std::size_t size_max = 64UL << 20;     // bytes of the answer: more is refused
  std::vector<int> accept = {200, 207};  // other statuses are failures
  std::string access_hint = {};          // what to do where access is refused; empty: what HTTP says
};

struct Document {
  int status = 0;
  std::string body;
  std::string content_type;  // lower case, without parameters
  std::string etag;
  std::vector<std::string> links;  // the values of Link headers (RFC 8288)
  std::string digests;             // of Digest (RFC 3230) and Repr-Digest (RFC 9530)
  std::string authenticate;        // WWW-Authenticate
  Url url;                         // that gave it, after redirects
  Reach reach = Reach::global;     // of the farthest host on the way to it

  // A URL that it names: it leads no nearer.
  [[nodiscard]] Url names(const Url& named) const {
    return named.named_by(Namer{.reach = reach, .own_host = named.host() == url.host()});
  }
};

[[nodiscard]] Document ask(Transport& transport, const Question& question, Traffic& traffic, std::stop_token stop);

}  // namespace sabath
