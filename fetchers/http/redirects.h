// The redirects of one read, followed by hand, and the one rule of where a stranger's URL may lead, be it a Location or
// stands in a document: never nearer than the host that gave it, except to the hosts that the user allows.
// Owned by one read; one thread. Throws Error{unavailable}.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/reach.h"
#include "sabath/url.h"

namespace sabath {

class Redirects {
 public:
  // `bound`: `original` stands in a document, and this is the reach of the host that gave it. Without it the user named
  // the URL. `near_hosts`: WebSettings; outlives this.
  explicit Redirects(const Url& original, std::optional<Reach> bound = std::nullopt,
                     std::span<const std::string> near_hosts = {})
      : hops_{original}, bound_(bound), near_hosts_(near_hosts) {}
  [[nodiscard]] const Url& current() const noexcept { return hops_.back(); }
  // Goes where `location` leads, unless it is a loop, too long a chain, another scheme family, or https to http.
  // `anew`: what is asked with has changed (cookies), so that the same URL may be answered otherwise.
  void follow(const std::string& location, bool anew = false);
  // Called with the address that the current hop is really connected to, before anything is sent to it.
  void check_address(std::string_view address);
  // Of the farthest of all that led here: what the answer says may lead no nearer.
  [[nodiscard]] Reach reach() const noexcept { return std::min(bound_.value_or(reach_), reach_); }

 private:
  static constexpr std::size_t redirects_max = 10;
  std::vector<Url> hops_;        // the original first
  std::ptrdiff_t asked_so_ = 0;  // the first that was asked as the current one is
  std::optional<Reach> bound_;   // of the farthest host that led here; nullopt: the user
  Reach reach_ = Reach::global;  // of the current hop
  std::span<const std::string> near_hosts_;
};

}  // namespace sabath
