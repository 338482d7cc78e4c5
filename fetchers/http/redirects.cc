#include "http/redirects.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "base/percent.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

[[noreturn]] void refuse(const Url& from, const std::string& why, std::string hint) {
  throw Error(FailureKind::unavailable, fmt::format("cannot read {}: redirect refused: {}", from.display(), why),
              std::move(hint));
}

Url resolved(const Url& from, const std::string& location) {
  try {
    return from.resolve(percent_encode_raw(location));
  } catch (const Error& error) {
    const bool is_long = error.failure().message.find("longer than") != std::string::npos;
    const char* const why = is_long ? "is longer than a URL may be" : "is not a URL";
    refuse(from, fmt::format("the Location {}: {}", why, printable_url(location)),
           "the server is misconfigured; use another mirror");
  }
}

}  // namespace

void Redirects::follow(const std::string& location, bool anew) {
  if (anew) asked_so_ = std::ssize(hops_);
  const Url from = current();
  Url to = resolved(from, location);
  if (to.scheme() != "http" && to.scheme() != "https") {
    refuse(from, "it leads to " + printable(to.display()), "only http and https may be the target of a redirect");
  }
  if (from.scheme() == "https" && to.scheme() == "http") {
    refuse(from, "it leads from https to " + to.display(),
           "name the http URL itself if its content is pinned by a hash");
  }
  if (std::find(hops_.begin() + asked_so_, hops_.end(), to) != hops_.end()) {
    refuse(from, "it leads in a loop, back to " + to.display(), "the server is misconfigured or wants a login");
  }
  if (hops_.size() > redirects_max) {
    refuse(hops_.front(), fmt::format("more than {} in a row, the last to {}", redirects_max, to.display()),
           "the server is misconfigured or wants a login");
  }
  const bool same_host = to.host() == from.host();
  hops_.push_back(to.named_by(Namer{.reach = reach(), .own_host = same_host}));
}

Reach Redirects::reach() const noexcept {
  return current().namer() ? std::min(current().namer()->reach, reach_) : reach_;
}

}  // namespace sabath
