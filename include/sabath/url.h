// A URL split as RFC 3986 says, made only by parsing. Userinfo is refused: credentials never stand in a URL.
// A plain value; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sabath {

class Url {
 public:
  // At most 8192 bytes of UTF-8, no control bytes or spaces, an ASCII host. Throws Error{invalid}.
  [[nodiscard]] static Url parse(std::string_view text);
  [[nodiscard]] static std::optional<Url> try_parse(std::string_view text);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }  // as given: may hold a signature
  [[nodiscard]] std::string display() const;                                // without query and fragment: for people
  [[nodiscard]] const std::string& scheme() const noexcept { return scheme_; }  // lower case
  [[nodiscard]] const std::string& host() const noexcept {
    return host_;
  }  // lower case, IPv6 in [], may be empty (file:)
  [[nodiscard]] std::optional<std::uint16_t> port() const noexcept { return port_; }  // as written
  [[nodiscard]] const std::string& path() const noexcept { return path_; }            // still percent-encoded
  [[nodiscard]] const std::string& query() const noexcept { return query_; }          // without '?'
  [[nodiscard]] std::string origin() const;     // scheme://host[:port], default port left out
  [[nodiscard]] std::string file_name() const;  // last path segment, percent-decoded; may be empty or unsafe
  [[nodiscard]] Url resolve(std::string_view reference) const;  // RFC 3986 section 5.2
  friend auto operator<=>(const Url& a, const Url& b) { return a.text_ <=> b.text_; }
  friend bool operator==(const Url& a, const Url& b) { return a.text_ == b.text_; }

 private:
  Url() = default;
  std::string text_, scheme_, host_, path_, query_;
  std::optional<std::uint16_t> port_;
};

// The part that may be shown of a text, URL or not: neither query nor credentials, and nothing that a terminal obeys.
[[nodiscard]] std::string printable_url(std::string_view text);

// %XX sequences decoded; a malformed one throws Error{invalid}.
[[nodiscard]] std::string percent_decode(std::string_view text);

}  // namespace sabath
