#include "fetch/page_guard.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "sabath/path.h"

namespace sabath {
namespace {

bool names_a_page(const Url& url) {
  const std::string path = to_lower(url.path());
  return path.ends_with(".html") || path.ends_with(".htm") || path.ends_with(".xhtml");
}

bool begins_like_a_page(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::string head = to_lower(trim(text.substr(0, 512)));
  return head.starts_with("<!doctype html") || head.starts_with("<html") || head.starts_with("<head");
}

// Scripts that hand out files often leave the type that pages have. No page holds a NUL, but in UTF-16.
bool is_binary(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return false;
  return text.substr(0, 512).find('\0') != std::string_view::npos;
}

std::string hint_for(const Url& url, const std::string& final_url, std::string_view body) {
  const std::string page = to_lower(body);
  if (url.path().find("/blob/") != std::string::npos) {
    return "a /blob/ URL shows the file in a web page: use the raw file's URL in the recipe (/raw/ in place of /blob/)";
  }
  const std::string at = to_lower(final_url);
  if (page.find("password") != std::string::npos || page.find("sign in") != std::string::npos ||
      page.find("log in") != std::string::npos || at.find("login") != std::string::npos) {
    return "the server wants a login: `sabath info` shows the steps that the recipe knows; or fetch the file by hand "
           "and give it with --path";
  }
  return "open the URL in a browser: a login, a licence to accept, or a network that wants a sign-in first";
}

}  // namespace

std::optional<Failure> refuse_page(const Url& url, const ContentInfo& info, std::span<const std::byte> first) {
  if (first.empty() || names_a_page(url)) return std::nullopt;
  const std::string_view body(reinterpret_cast<const char*>(first.data()), std::min<std::size_t>(first.size(), 16384));
  const bool declared = info.content_type == "text/html" || info.content_type == "application/xhtml+xml";
  if (!begins_like_a_page(body) && (!declared || is_binary(body))) return std::nullopt;
  return Failure{FailureKind::access, fmt::format("{} sent a web page instead of data", url.display()),
                 hint_for(url, info.final_url, body), std::nullopt};
}

}  // namespace sabath
