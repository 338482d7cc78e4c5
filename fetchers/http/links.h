// Link headers (RFC 8288): the next page, other places of a file, documents about it. Pure; any thread; throws nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct Link {
  std::string target;  // a reference, not resolved
  std::string rel;     // lower case; may be several, separated by blanks
  std::string type;
  std::uint64_t priority = 999'999;  // "pri" of RFC 6249
  [[nodiscard]] bool is(std::string_view relation) const;
};
// One Link header's value, which may hold several. Malformed parts are left out: a header is a hint. Pure.
[[nodiscard]] std::vector<Link> parse_links(std::string_view value);

}  // namespace sabath
