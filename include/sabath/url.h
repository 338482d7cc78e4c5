// A URL split as RFC 3986 says, made only by parsing. Userinfo is refused: credentials never stand in a URL.
// It knows who named it, where the user did not: that decides where a request for it may go (base/reach.h).
// A plain value; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sabath {

// How near a host is, from far to near. `link` includes the addresses of clouds' metadata services, in all ranges:
// their answers belong to this machine, and are no source.
enum class Reach { global, site, link, host };

// Any user at all may have written it.
inline constexpr std::uint32_t any_user = 0xffffffff;

// Others that named a URL, in a document, a list, a redirect, a catalogue, or a recipe on this machine.
struct Namer {
  Reach reach = Reach::global;          // of the farthest host that led to it: it may lead no nearer
  bool own_host = false;                // the user named the same host, in the URL that led to it
  std::optional<std::uint32_t> user{};  // whose file named it; 0: root's or ours, any_user: several; nullopt: a network
  friend bool operator==(const Namer&, const Namer&) = default;
};
// `others` named it as well: the farthest of all of them counts, and all of their users must be able to read a file.
void add_namer(std::optional<Namer>& namer, const std::optional<Namer>& others) noexcept;

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
  // nullopt: the user, by a word, a setting or a recipe of his own. resolve() keeps it.
  [[nodiscard]] const std::optional<Namer>& namer() const noexcept { return namer_; }
  // The same, named by others, too: the farthest of all of them counts.
  [[nodiscard]] Url named_by(const std::optional<Namer>& others) const;
  void add_namer(const std::optional<Namer>& others) noexcept { sabath::add_namer(namer_, others); }
  friend auto operator<=>(const Url& a, const Url& b) { return a.text_ <=> b.text_; }
  friend bool operator==(const Url& a, const Url& b) { return a.text_ == b.text_; }

 private:
  Url() = default;
  std::string text_, scheme_, host_, path_, query_;
  std::optional<std::uint16_t> port_;
  std::optional<Namer> namer_;
};

// The part that may be shown of a text, URL or not: neither query nor credentials, and nothing that a terminal obeys.
[[nodiscard]] std::string printable_url(std::string_view text);

// %XX sequences decoded; a malformed one throws Error{invalid}.
[[nodiscard]] std::string percent_decode(std::string_view text);

}  // namespace sabath
