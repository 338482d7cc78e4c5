#include "software/need.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "software/version.h"

namespace sabath {
namespace {

using Kind = VersionBound::Kind;
constexpr std::size_t need_bytes_max = 512, bounds_max = 16;

constexpr std::array<std::pair<std::string_view, Kind>, 8> relations{{{">=", Kind::at_least},
                                                                      {"<=", Kind::at_most},
                                                                      {"==", Kind::exactly},
                                                                      {"!=", Kind::other_than},
                                                                      {">", Kind::above},
                                                                      {"<", Kind::below},
                                                                      {"=", Kind::of},
                                                                      {"/", Kind::of}}};

[[noreturn]] void refuse_need(std::string_view text, std::string_view why) {
  throw Error(FailureKind::usage, fmt::format("'{}' is no need of software: {}", printable(text), why),
              "write NAME>=VERSION,<VERSION+FEATURE, as cuda>=11,<13 or openmpi+cuda");
}

bool is_name_letter(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '-' ||
         c == '+';
}

bool begins_word(std::string_view text) {
  return !text.empty() &&
         ((text.front() >= 'a' && text.front() <= 'z') || (text.front() >= 'A' && text.front() <= 'Z'));
}

// A '+' before a letter begins a feature.
std::string_view take_name(std::string_view& rest) {
  std::size_t end = 0;
  const auto feature = [&] { return rest[end] == '+' && begins_word(rest.substr(end + 1)); };
  while (end < rest.size() && is_name_letter(rest[end]) && !feature()) ++end;
  const std::string_view name = rest.substr(0, end);
  rest = trim(rest.substr(end));
  return name;
}

}  // namespace

SoftwareNeed parse_software_need(std::string_view text) {
  if (text.size() > need_bytes_max) refuse_need(text, fmt::format("it has more than {} bytes", need_bytes_max));
  SoftwareNeed need;
  need.text = trim(text);
  std::string_view rest = need.text;
  need.name = to_lower(take_name(rest));
  if (need.name.empty() || need.name.front() == '-') refuse_need(text, "it begins with no name");
  while (!rest.empty()) {
    if (need.bounds.size() + need.features.size() >= bounds_max) refuse_need(text, "it says too much");
    if (rest.front() == ',' && !need.bounds.empty()) rest = trim(rest.substr(1));
    if (rest.starts_with('+')) {
      rest.remove_prefix(1);
      need.features.push_back(to_lower(take_name(rest)));
      if (need.features.back().empty()) refuse_need(text, "a '+' has no feature behind it");
      continue;
    }
    const auto found = std::ranges::find_if(relations, [&](const auto& one) { return rest.starts_with(one.first); });
    if (found == relations.end()) refuse_need(text, fmt::format("'{}' is not understood", printable(rest)));
    rest = trim(rest.substr(found->first.size()));
    need.bounds.push_back({found->second, std::string(take_name(rest))});
    if (const std::string& version = need.bounds.back().version;
        !begins_word(version) && !try_whole_number(version.substr(0, 1)))
      refuse_need(text, fmt::format("'{}' has no version", found->first));
  }
  return need;
}

bool meets(std::string_view version, const VersionBound& bound) noexcept {
  const int order = compare_versions(version, bound.version);
  switch (bound.kind) {
    case Kind::at_least:
      return order >= 0;
    case Kind::above:
      return order > 0;
    case Kind::at_most:
      return order <= 0 || is_version_of(version, bound.version);
    case Kind::below:
      return order < 0;
    case Kind::of:
      return is_version_of(version, bound.version);
    case Kind::exactly:
      return order == 0;
    case Kind::other_than:
      return order != 0;
  }
  return false;
}

bool meets(std::string_view version, const SoftwareNeed& need) noexcept {
  return std::ranges::all_of(need.bounds, [&](const VersionBound& bound) { return meets(version, bound); });
}

std::string text_of_bounds(const SoftwareNeed& need) {
  std::string text;
  for (const VersionBound& bound : need.bounds) {
    const auto relation = std::ranges::find(relations, bound.kind, &std::pair<std::string_view, Kind>::second);
    text += fmt::format("{}{}{}", text.empty() ? "" : ",", relation->first, bound.version);
  }
  return text;
}

bool is_called(std::string_view name, std::string_view lower_name) {
  const std::string lower = to_lower(name);
  return lower == lower_name || lower.substr(lower.rfind('/') + 1) == lower_name;
}

}  // namespace sabath
