#include "environments/wheel_name.h"

#include <algorithm>
#include <set>

#include "base/split.h"
#include "base/text.h"
#include "environments/package_name.h"

namespace sabath {
namespace {

constexpr std::size_t wheel_name_max = 300, tags_max = 64;  // of all combinations

std::optional<std::vector<std::string>> tags_in(const std::string& text) {
  std::vector<std::string> tags = parts_at(to_lower(text), '.');
  const auto fits = [](const std::string& tag) {
    return !tag.empty() && tag.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
  };
  if (!std::ranges::all_of(tags, fits)) return std::nullopt;
  return tags;
}

}  // namespace

std::optional<WheelName> try_wheel_name(std::string_view file_name) {
  if (file_name.size() > wheel_name_max || !file_name.ends_with(".whl")) return std::nullopt;
  file_name.remove_suffix(4);
  const std::vector<std::string> parts = parts_at(file_name, '-');
  if (parts.size() != 5 && parts.size() != 6) return std::nullopt;
  WheelName wheel;
  const auto name = normal_name(parts[0]);
  const auto version = try_python_version(parts[1]);
  if (!name || !version || parts[1].find(' ') != std::string::npos) return std::nullopt;
  wheel.name = *name;
  wheel.version = *version;
  if (parts.size() == 6) {
    const std::size_t digits = std::min(parts[2].find_first_not_of("0123456789"), parts[2].size());
    const auto build = try_whole_number(std::string_view(parts[2]).substr(0, digits));
    wheel.build_suffix = parts[2].substr(digits);
    if (!build || !tags_in("a" + wheel.build_suffix)) return std::nullopt;
    wheel.build = *build;
  }
  const auto pythons = tags_in(parts[parts.size() - 3]), abis = tags_in(parts[parts.size() - 2]),
             platforms = tags_in(parts.back());
  if (!pythons || !abis || !platforms || pythons->size() * abis->size() * platforms->size() > tags_max)
    return std::nullopt;
  wheel.pythons = *pythons;
  wheel.abis = *abis;
  wheel.platforms = *platforms;
  return wheel;
}

}  // namespace sabath
