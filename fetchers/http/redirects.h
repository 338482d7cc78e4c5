// The redirects of one read, followed by hand. Owned by one read; one thread. Throws Error{unavailable}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/reach.h"
#include "sabath/url.h"

namespace sabath {

class Redirects {
 public:
  explicit Redirects(const Url& original) : hops_{original} {}
  [[nodiscard]] const Url& current() const noexcept { return hops_.back(); }
  // Goes where `location` leads, unless it is a loop, too long a chain, another scheme family, or https to http.
  void follow(const std::string& location);
  // Called with the address that the current hop is really connected to, before anything is sent to it.
  void check_address(std::string_view address);

 private:
  static constexpr std::size_t redirects_max = 10;
  std::vector<Url> hops_;  // the original first
  Reach original_reach_ = Reach::global;
};

}  // namespace sabath
