#include "sabath/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t url_length_max = 8192;

// The five components of RFC 3986 section 3; an absent one differs from an empty one.
struct Components {
  std::optional<std::string_view> scheme, authority;
  std::string_view path;
  std::optional<std::string_view> query, fragment;
};

bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> try_percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const int high = hex_value(text[i + 1]);
    const int low = hex_value(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

bool is_scheme(std::string_view text) {
  return !text.empty() && text.size() <= 32 && is_alpha(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
    return is_alpha(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
  });
}

std::optional<std::string_view> split_off(std::string_view& text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view after = text.substr(at + 1);
  text = text.substr(0, at);
  return after;
}

Components split(std::string_view text) {  // RFC 3986, appendix B
  Components c;
  c.fragment = split_off(text, '#');
  c.query = split_off(text, '?');
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos && is_scheme(text.substr(0, colon))) {
    c.scheme = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    const std::size_t slash = std::min(text.find('/'), text.size());
    c.authority = text.substr(0, slash);
    text.remove_prefix(slash);
  }
  c.path = text;
  return c;
}

std::string_view character_fault(std::string_view text) {
  if (text.size() > url_length_max) return "it is longer than 8192 bytes";
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    if (length == 0) return "it is not UTF-8";
    if (begins_with_control(text) || text[0] == ' ') return "it holds a space or a control character";
    if (text[0] == '\\' || text[0] == '<' || text[0] == '>' || text[0] == '"') return "it holds one of \\ < > \"";
    text.remove_prefix(length);
  }
  return {};
}

bool is_host(std::string_view host) {
  if (host.size() > 255 || host.starts_with('-')) return false;  // no option for a program
  if (host.starts_with('[')) {
    return host.size() > 3 && host.ends_with(']') && std::all_of(host.begin() + 1, host.end() - 1, [](char c) {
             return hex_value(c) >= 0 || c == ':' || c == '.';
           });
  }
  return std::all_of(host.begin(), host.end(),
                     [](char c) { return is_alpha(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~'; });
}

// Splits "host[:port]"; false if it is malformed.
bool split_authority(std::string_view authority, std::string_view& host, std::optional<std::uint16_t>& port) {
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  host = authority.substr(0, colon);
  if (!is_host(host)) return false;
  if (colon == std::string_view::npos || colon + 1 == authority.size()) return true;
  const std::string_view digits = authority.substr(colon + 1);
  std::uint16_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value == 0) return false;
  port = value;
  return true;
}

std::optional<std::uint16_t> default_port(std::string_view scheme) {
  if (scheme == "https") return 443;
  if (scheme == "http") return 80;
  if (scheme == "ftp") return 21;
  if (scheme == "sftp" || scheme == "ssh") return 22;
  if (scheme == "sabath" || scheme == "sabath+tls") return 7777;  // sabath serve
  return std::nullopt;
}

std::string remove_dot_segments(std::string_view path) {  // RFC 3986, section 5.2.4
  std::string out;
  while (!path.empty()) {
    if (path.starts_with("../")) {
      path.remove_prefix(3);
    } else if (path.starts_with("./") || path.starts_with("/./")) {
      path.remove_prefix(2);
    } else if (path == "/.") {
      path = "/";
    } else if (path.starts_with("/../") || path == "/..") {
      path = path == "/.." ? std::string_view("/") : path.substr(3);
      const std::size_t slash = out.rfind('/');
      out.resize(slash == std::string::npos ? 0 : slash);
    } else if (path == "." || path == "..") {
      path = {};
    } else {
      const std::size_t end = std::min(path.find('/', 1), path.size());
      out += path.substr(0, end);
      path.remove_prefix(end);
    }
  }
  return out;
}

// What both of them may name: of two users, what all users may.
std::optional<std::uint32_t> both_users(std::optional<std::uint32_t> a, std::optional<std::uint32_t> b) {
  if (!a || !b) return std::nullopt;
  if (*a == 0 || *b == 0) return std::max(*a, *b);
  return *a == *b ? *a : any_user;
}

}  // namespace

std::string printable_url(std::string_view text) {
  const Components c = split(text);
  if (c.authority && c.authority->find('@') != std::string_view::npos) {
    return fmt::format("{}://...@{}{}", printable(c.scheme.value_or("")),
                       printable(c.authority->substr(c.authority->rfind('@') + 1)), printable(c.path));
  }
  return printable(text.substr(0, text.find_first_of("?#")));
}

std::optional<Url> Url::try_parse(std::string_view text) {
  try {
    return parse(text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

Url Url::parse(std::string_view text) {
  const auto refuse = [&](std::string_view why, std::string hint = {}) {
    throw Error(FailureKind::invalid, fmt::format("malformed URL \"{}\": {}", printable_url(text), why),
                std::move(hint));
  };
  if (const std::string_view why = character_fault(text); !why.empty()) refuse(why);
  const Components c = split(text);
  if (!c.scheme) refuse("it has no scheme", "write it in full, such as https://host/path");
  Url url;
  url.text_ = text;
  url.scheme_ = to_lower(*c.scheme);
  if (c.authority) {
    if (c.authority->find('@') != std::string_view::npos) {
      refuse("it holds a user name or password", "leave it out and use ~/.netrc or an SSH configuration");
    }
    std::string_view host;
    if (!split_authority(*c.authority, host, url.port_)) refuse("its host or port is malformed");
    url.host_ = to_lower(host);
  }
  const bool file = url.scheme_ == "file";
  const bool hostless = url.host_.empty() && (c.authority || default_port(url.scheme_) || url.scheme_ == "s3");
  if (hostless && !file && url.scheme_ != "ni") refuse("it names no host");  // ni: RFC 6920: a hash says enough
  if (file && !c.path.starts_with('/')) refuse("its path is not absolute", "write file:///path");
  if (!c.authority && c.path.empty()) refuse("it names nothing");
  if (!try_percent_decode(c.path)) refuse("a % in its path is not followed by two hexadecimal digits");
  url.path_ = c.path;
  url.query_ = c.query.value_or("");
  return url;
}

std::string Url::display() const { return text_.substr(0, text_.find_first_of("?#")); }

std::string Url::origin() const {
  const bool shown = port_ && port_ != default_port(scheme_);
  return fmt::format("{}://{}{}", scheme_, host_, shown ? fmt::format(":{}", *port_) : "");
}

std::string Url::file_name() const { return percent_decode(std::string_view(path_).substr(path_.rfind('/') + 1)); }

Url Url::resolve(std::string_view reference) const {
  if (const std::string_view why = character_fault(reference); !why.empty()) {
    throw Error(FailureKind::invalid, fmt::format("malformed URL \"{}\": {}", printable_url(reference), why));
  }
  const Components base = split(text_);
  const Components r = split(reference);
  Components t;
  std::string path;
  t.scheme = r.scheme ? r.scheme : base.scheme;
  t.authority = r.scheme || r.authority ? r.authority : base.authority;
  t.query = r.query;
  if (r.scheme || r.authority || r.path.starts_with('/')) {
    path = remove_dot_segments(r.path);
  } else if (r.path.empty()) {
    path = base.path;
    if (!r.query) t.query = base.query;
  } else if (base.authority && base.path.empty()) {
    path = remove_dot_segments(fmt::format("/{}", r.path));
  } else {
    path = remove_dot_segments(fmt::format("{}{}", base.path.substr(0, base.path.rfind('/') + 1), r.path));
  }
  std::string text = fmt::format("{}:", *t.scheme);
  if (t.authority) text += fmt::format("//{}", *t.authority);
  text += path;
  if (t.query) text += fmt::format("?{}", *t.query);
  if (r.fragment) text += fmt::format("#{}", *r.fragment);
  return parse(text).named_by(namer_);
}

Url Url::named_by(const std::optional<Namer>& others) const {
  Url url = *this;
  url.add_namer(others);
  return url;
}

void add_namer(std::optional<Namer>& namer, const std::optional<Namer>& others) noexcept {
  if (!others) return;
  const auto before = std::exchange(namer, others);
  if (!before) return;
  namer->reach = std::min(before->reach, others->reach);
  namer->own_host = before->own_host && others->own_host;
  namer->user = both_users(before->user, others->user);
}

std::string percent_decode(std::string_view text) {
  std::optional<std::string> decoded = try_percent_decode(text);
  if (!decoded) {
    throw Error(FailureKind::invalid,
                fmt::format("a % in \"{}\" is not followed by two hexadecimal digits", printable(text)));
  }
  return std::move(*decoded);
}

}  // namespace sabath
