// The redirects of one read, followed by hand: each names the next URL, which leads no nearer (base/reach.h).
// Owned by one read; one thread. Throws Error{unavailable}.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "sabath/url.h"

namespace sabath {

class Redirects {
 public:
  explicit Redirects(const Url& original) : hops_{original} {}
  // The next to be asked. It knows who led there: the transport judges it by that.
  [[nodiscard]] const Url& current() const noexcept { return hops_.back(); }
  // Goes where `location` leads, unless it is a loop, too long a chain, another scheme family, or https to http.
  // `anew`: what is asked with has changed (cookies), so that the same URL may be answered otherwise.
  void follow(const std::string& location, bool anew = false);
  // The current hop is asked at a host that is so near.
  void reached(Reach reach) noexcept { reach_ = std::min(reach_, reach); }
  // Of the farthest of all that led here: what the answer says may lead no nearer.
  [[nodiscard]] Reach reach() const noexcept;

 private:
  static constexpr std::size_t redirects_max = 10;
  std::vector<Url> hops_;        // the original first
  std::ptrdiff_t asked_so_ = 0;  // the first that was asked as the current one is
  Reach reach_ = Reach::host;    // of the farthest that was asked
};

}  // namespace sabath
