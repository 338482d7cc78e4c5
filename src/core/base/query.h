// The parameters of a URL's query, one after the other, as they stand: still percent-encoded. Pure; throws nothing.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

namespace sabath {

struct QueryParameter {
  std::string_view name;
  std::optional<std::string_view> value;  // nullopt: no "=" follows the name
};

// The first parameter of what is left of a query, which it takes away; nullopt: there is no more.
[[nodiscard]] inline std::optional<QueryParameter> next_parameter(std::string_view& rest) {
  if (rest.empty()) return std::nullopt;
  const std::string_view pair = rest.substr(0, rest.find('&'));
  rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
  const std::size_t equals = pair.find('=');
  if (equals == pair.npos) return QueryParameter{pair, std::nullopt};
  return QueryParameter{pair.substr(0, equals), pair.substr(equals + 1)};
}

}  // namespace sabath
