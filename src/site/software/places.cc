#include "software/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/file.h"
#include "sabath/path.h"
#include "software/programs.h"

namespace sabath {
namespace {

constexpr std::size_t places_max = 1000;
constexpr std::array<std::string_view, 2> path_lists{"PATH", "LD_LIBRARY_PATH"};
// They hold code, or a state that is run as code.
constexpr std::array<std::string_view, 13> of_code{"BASH_ENV",  "BASH_FUNC_", "LD_PRELOAD", "LD_AUDIT", "LUA_",
                                                   "TCL",       "PYTHON",     "PERL",       "RUBY",     "NODE_",
                                                   "_ModuleTa", "__LMOD",     "GCONV_PATH"};

bool begins_with_any(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::vector<std::string> parts_of_value(std::string_view value) {
  std::vector<std::string> parts;
  for (const std::string& part : parts_between(value, ':', places_max)) {
    for (std::string& one : parts_between(part, ';', places_max)) parts.push_back(std::move(one));
  }
  return parts;
}

bool is_trusted_place(const std::string& place, const TrustedOwners& owners) {
  return place.starts_with('/') && !owners.why_not(place);
}

bool may_go_along(std::string_view value, const TrustedOwners& owners) {
  if (value.find('/') == std::string_view::npos) return true;
  const auto parts = parts_of_value(value);
  return parts.size() < places_max && std::ranges::all_of(parts, [&](const std::string& part) {
           return part.find('/') == std::string::npos || is_trusted_place(part, owners);
         });
}

}  // namespace

std::map<std::string, std::string> variables_for_programs(const Environment& environment, const TrustedOwners& owners) {
  std::map<std::string, std::string> along;
  for (const auto& [name, value] : environment.variables) {
    if (begins_with_any(name, of_code) || name == "ENV") continue;
    if (std::ranges::find(path_lists, name) == path_lists.end()) {
      if (may_go_along(value, owners)) along.emplace(name, value);
      continue;
    }
    std::string trusted;
    for (const std::string& place : parts_between(value, ':', places_max))
      if (is_trusted_place(place, owners)) trusted += (trusted.empty() ? "" : ":") + place;
    if (!trusted.empty()) along.emplace(name, trusted);
  }
  along.try_emplace("PATH", "/usr/bin:/bin");
  return along;
}

std::optional<std::string> place_of_others(const Environment& environment, const TrustedOwners& owners,
                                           std::string_view prefix) {
  for (const auto& [name, value] : environment.variables) {
    if (!std::string_view(name).starts_with(prefix) || name == "MODULEPATH") continue;
    for (const std::string& place : parts_of_value(value)) {
      if (!place.starts_with('/') || !try_lstat(place)) continue;
      if (const auto why = owners.why_not(place))
        return fmt::format("{} names {}: {}", printable(name), printable(place, 1000), *why);
    }
  }
  return std::nullopt;
}

}  // namespace sabath
