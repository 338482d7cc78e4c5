// The Authorization header of a request: the bearer token of its origin, or name and password of its host from netrc. A
// credential of one origin is given for that origin and for no other. Any thread; files and programs are asked
// once each, when they are first needed. Throws Error{access}, Error{usage}.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "sabath/credentials.h"
#include "sabath/url.h"

namespace sabath {

class Authorizations {
 public:
  explicit Authorizations(WebSettings settings) : settings_(std::move(settings)) {}
  // "Authorization: ..."; nullopt: none is known for this origin.
  [[nodiscard]] std::optional<Secret> header_for(const Url& url);

 private:
  [[nodiscard]] Secret make_header(const Url& url) const;  // empty: none
  WebSettings settings_;
  std::mutex mutex_;
  std::map<std::string, Secret> headers_;  // by origin; empty: none
};

struct Login {
  std::string name;
  Secret password;
};
// The entry of `host` in a netrc file of that name, by curl's grammar; of several the first that has both name and
// password. "default" and "macdef" are passed over: no host may get what was not meant for it. libcurl would send a
// host what "default" says, even in clear, and does not tell us what it found. Throws Error{usage}.
[[nodiscard]] std::optional<Login> try_find_login(std::string_view netrc, std::string_view host,
                                                  const std::string& file = "netrc");

}  // namespace sabath
