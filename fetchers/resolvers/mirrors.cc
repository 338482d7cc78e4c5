#include "resolvers/mirrors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/metalink.h"
#include "base/text.h"
#include "http/document.h"
#include "http/links.h"
#include "sabath/error.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

constexpr std::string_view prefix = "metalink+";
constexpr std::size_t metalink_size_max = 256UL << 20;

// The bytes of Base64 with its padding, as hexadecimal digits.
std::optional<std::string> try_hex(std::string_view base64) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (base64.size() % 4 != 0) return std::nullopt;
  std::vector<std::uint8_t> bytes;
  std::uint32_t bits = 0, count = 0;
  for (const char c : base64.substr(0, base64.find_last_not_of('=') + 1)) {
    const std::size_t value = alphabet.find(c);
    if (value == alphabet.npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<std::uint8_t>(bits >> count));
  }
  return to_hex(bytes);
}

// "SHA-256=BASE64, SHA-512=BASE64" (RFC 3230), or "sha-512=:BASE64:" (RFC 9530). Only what is strong enough to tell a
// mirror's content from another one counts; a digest that cannot be read is none.
void take_digests(std::string_view rest, ListedFile& file) {
  while (!rest.empty()) {
    const std::string_view one = trim(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.find(','), rest.size() - 1) + 1);
    const std::size_t equals = std::min(one.find('='), one.size());
    const ChecksumAlgorithm* algorithm = find_checksum_algorithm(to_lower(one.substr(0, equals)));
    if (algorithm == nullptr || !algorithm->name.starts_with("sha") || algorithm->name == "sha1") continue;
    std::string_view base64 = one.substr(std::min(equals + 1, one.size()));
    if (base64.starts_with(':') && base64.ends_with(':') && base64.size() > 1)
      base64 = base64.substr(1, base64.size() - 2);
    if (auto hex = try_hex(base64); hex && algorithm->spells(*hex)) file.checksum.*algorithm->value = std::move(*hex);
  }
}

class Mirrors : public Resolver {
 public:
  explicit Mirrors(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

  bool lists(const Url&) const override { return true; }

  Listing resolve(const Url& url, Inquiry& inquiry) override {
    const Url file = Url::parse(url.text().substr(prefix.size())).named_by(url.namer());
    // The first answer is the one that speaks: a server of mirrors redirects to one of them.
    const Document head =
        get({.url = inquiry.rewritten(file), .method = "HEAD", .accept = {200, 301, 302, 303, 307, 308}}, inquiry);
    Listing listing;
    listing.over_tls = head.url.scheme() == "https";
    if (const auto described = description(head)) {
      const Document metalink =
          get({.url = inquiry.rewritten(*described), .size_max = metalink_size_max, .accept = {200}}, inquiry);
      listing.over_tls = listing.over_tls && metalink.url.scheme() == "https";
      listing.files = parse_metalink(metalink.body, *described);
    } else {
      listing.files.push_back(mirrors_in_head(head, file));
    }
    return listing;
  }

 private:
  Document get(const Question& question, Inquiry& inquiry) {
    std::optional<Document> document;
    inquiry.attempt(question.url,
                    [&](Traffic& traffic) { document = ask(*transport_, question, traffic, inquiry.stop()); });
    return std::move(*document);
  }

  static std::optional<Url> description(const Document& head) {
    for (const auto& value : head.links) {
      for (const Link& link : parse_links(value)) {
        if (!link.is("describedby") || link.type != "application/metalink4+xml") continue;
        Url url = head.names(head.url.resolve(link.target));
        if (url.scheme() == "https" || url.scheme() == head.url.scheme()) return url;
      }
    }
    return std::nullopt;
  }

  std::shared_ptr<Transport> transport_;
};

}  // namespace

ListedFile mirrors_in_head(const Document& head, const Url& file) {
  const std::string name = file.file_name();
  auto path = name.find('/') == name.npos ? RelativePath::try_parse(name) : std::nullopt;
  if (!path) throw Error(FailureKind::invalid, fmt::format("{} ends in no name of a file", file.display()));
  ListedFile listed{std::move(*path), {}, std::nullopt, {}};
  std::vector<std::pair<std::uint64_t, Url>> mirrors;
  for (const auto& value : head.links) {
    for (const Link& link : parse_links(value)) {
      const auto url = link.is("duplicate") ? Url::try_parse(link.target) : std::nullopt;
      const bool spoken = url && (url->scheme() == "https" || url->scheme() == "http" || url->scheme() == "ftp");
      if (spoken) mirrors.emplace_back(link.priority, *url);
    }
  }
  std::ranges::stable_sort(mirrors, {}, &std::pair<std::uint64_t, Url>::first);
  for (auto& [priority, url] : mirrors) listed.urls.push_back(std::move(url));
  listed.urls.push_back(file);
  for (const std::string_view digest : head.digests) take_digests(digest, listed);
  // Without a digest nothing would tell a mirror's content from another.
  if (listed.checksum.empty()) listed.urls = {file};
  return listed;
}

void add_mirrors(KnownFetchers& set, const FetcherParts& parts) {
  set.add(std::make_unique<Mirrors>(parts.transport), {"metalink+http", "metalink+https"});
}

}  // namespace sabath
