#include "base/login_name.h"

#include <algorithm>

#include "base/text.h"

namespace sabath {
namespace {

constexpr std::size_t login_bytes_max = 255;

bool has_only(std::string_view text, std::string_view besides) {
  return std::ranges::all_of(text, [&](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
    return letter || besides.find(c) != besides.npos;
  });
}

}  // namespace

// "me@project@host" has a user with an @.
bool is_login_name(std::string_view text) {
  const std::size_t at = text.rfind('@');
  const std::string_view user = at == text.npos ? "" : text.substr(0, at);
  const std::string_view host = at == text.npos ? text : text.substr(at + 1);
  const bool user_is_good = at == text.npos || (!user.empty() && user.front() != '-' && has_only(user, "._-+@"));
  return text.size() <= login_bytes_max && user_is_good && !host.empty() && host.front() != '-' &&
         has_only(host, "._-:");
}

bool is_login_program(std::string_view text) {
  if (text.starts_with("~/")) text.remove_prefix(2);
  return !text.empty() && text.size() <= login_bytes_max && text.front() != '-' && text.back() != '/' &&
         has_only(text, "._-+/");
}

}  // namespace sabath
