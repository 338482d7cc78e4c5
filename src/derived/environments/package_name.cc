#include "environments/package_name.h"

#include <algorithm>

namespace sabath {
namespace {

constexpr std::size_t package_name_max = 200;

bool is_name_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }
bool is_name_mark(char c) { return c == '-' || c == '_' || c == '.'; }

}  // namespace

std::optional<std::string> normal_name(std::string_view name) {
  if (name.empty() || name.size() > package_name_max || !is_name_letter(name.front()) || !is_name_letter(name.back()))
    return std::nullopt;
  std::string normal;
  for (const char c : name) {
    if (is_name_letter(c)) {
      normal += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!is_name_mark(c)) {
      return std::nullopt;
    } else if (normal.back() != '-') {
      normal += '-';
    }
  }
  return normal;
}

bool is_conda_name(std::string_view name) noexcept {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || is_name_mark(c); };
  return !name.empty() && name.size() <= package_name_max &&
         (fits(name.front()) && name.front() != '-' && name.front() != '.') && std::ranges::all_of(name, fits);
}

bool is_conda_version(std::string_view version) noexcept {
  const auto fits = [](char c) {
    return is_name_letter(c) || std::string_view("._+-!~=").find(c) != std::string_view::npos;
  };
  return !version.empty() && version.size() <= package_name_max && is_name_letter(version.front()) &&
         std::ranges::all_of(version, fits);
}

}  // namespace sabath
