#include "fetch/hosts/page_guard.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"
#include "base/wording.h"
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

// No character of a text: of those below a blank, texts have tabs, ends of lines and pages, and ISO-2022's escapes.
bool is_of_binary_data(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code < 0x20 && (code < '\t' || code > '\r') && code != 0x1B;
}

// Scripts that hand out files often leave the type that pages have. No page has such a byte, but in UTF-16, or goes on
// for lines without a tag. One line alone is what a program says when it fails.
bool may_be_a_page(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return true;
  if (std::ranges::any_of(text.substr(0, 512), is_of_binary_data)) return false;
  for (std::size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
    const char next = at + 1 < text.size() ? text[at + 1] : ' ';
    if (std::isalpha(static_cast<unsigned char>(next)) != 0 || next == '!' || next == '/' || next == '?') return true;
  }
  return trim(text).find('\n') == text.npos;
}

std::string hint_for(const Url& url, const std::string& final_url, std::string_view body) {
  const std::string page = to_lower(body);
  if (url.path().find("/blob/") != std::string::npos) {
    return "a /blob/ URL shows the file in a web page: use the raw file's URL in the recipe (/raw/ instead of /blob/)";
  }
  const std::string at = to_lower(final_url);
  constexpr std::array<std::string_view, 5> words = {"password", "sign in", "log in", "login", "single sign-on"};
  constexpr std::array<std::string_view, 6> places = {"login", "signin", "sign_in", "/sso", "/auth", "shibboleth"};
  const auto stands_in = [](const std::string& text) {
    return [&text](std::string_view word) { return text.find(word) != text.npos; };
  };
  if (std::ranges::any_of(words, stands_in(page)) || std::ranges::any_of(places, stands_in(at))) {
    return fmt::format(
        "the server wants a login: name and password for its host in ~/.netrc (https only), or a token by `tokens` of "
        "the configuration (docs/credentials.md); `{}` shows the steps that the recipe knows; or fetch the file by "
        "hand and give it with "
        "{}",
        verb_text("info"), option_text("path"));
  }
  return "open the URL in a browser: a login, a licence to accept, or a network that wants a sign-in first";
}

bool names_packed(const Url& url) {
  constexpr std::array<std::string_view, 10> endings = {".gz",  ".tgz", ".bz2", ".tbz2", ".xz",
                                                        ".txz", ".zst", ".z",   ".br",   ".svgz"};
  const std::string path = to_lower(url.path());
  return std::ranges::any_of(endings, [&](std::string_view ending) { return path.ends_with(ending); });
}

}  // namespace

std::optional<Failure> refuse_packed(const Url& url, const ContentInfo& info) {
  if (info.encoding.empty() || names_packed(url)) return std::nullopt;
  return Failure{FailureKind::unavailable,
                 fmt::format("cannot read {}: the response is refused: it is sent with Content-Encoding {}, though "
                             "identity was asked for",
                             url.display(), info.encoding),
                 "give the file's checksum or size in the recipe: that says which bytes are meant", std::nullopt};
}

std::optional<Coding> other_coding(const ContentInfo& info, Coding coding) {
  if (coding != Coding::any) return std::nullopt;
  if (!info.encoding.empty()) return Coding::unpacked;
  return info.unpacked_on_the_way ? std::optional(Coding::stored) : std::nullopt;
}

bool is_coded(const Url& url, const ContentInfo& info, Coding coding, std::uint64_t size_bytes) {
  if (!other_coding(info, coding)) return false;
  if (info.size_bytes) return *info.size_bytes != size_bytes;
  return info.unpacked_on_the_way || !names_packed(url);  // what is packed as it is sent has no length, either
}

std::string how_sent(const ContentInfo& info, Coding coding) {
  if (info.unpacked_on_the_way) return ", unpacked by the server on the way (it stores the file with gzip)";
  if (info.encoding.empty()) return {};
  const char* tried = coding == Coding::unpacked ? " (as it came, and unpacked)" : "";
  return fmt::format(", sent with Content-Encoding {}{}", info.encoding, tried);
}

std::optional<Failure> refuse_page(const Url& url, const ContentInfo& info, std::span<const std::byte> first) {
  if (first.empty() || names_a_page(url)) return std::nullopt;
  const std::string_view body(reinterpret_cast<const char*>(first.data()), std::min<std::size_t>(first.size(), 16384));
  const bool declared = info.content_type == "text/html" || info.content_type == "application/xhtml+xml";
  if (!begins_like_a_page(body) && !(declared && may_be_a_page(body))) return std::nullopt;
  return Failure{FailureKind::access, fmt::format("{} sent a web page instead of data", url.display()),
                 hint_for(url, info.final_url, body), std::nullopt};
}

}  // namespace sabath
