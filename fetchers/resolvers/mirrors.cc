#include "resolvers/mirrors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/metalink.h"
#include "http/digests.h"
#include "http/document.h"
#include "http/links.h"
#include "sabath/error.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

constexpr std::string_view prefix = "metalink+";
constexpr std::size_t metalink_size_max = 256UL << 20;

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
      compare_said(listing.files, file, parse_digests(head.digests));
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

  // The head and the metalink speak of one file: where both say a hash, it is the same.
  static void compare_said(std::vector<ListedFile>& files, const Url& file, const Checksums& said) {
    const auto listed = std::ranges::find(files, file.file_name(), [](const ListedFile& each) {
      return each.path.text().substr(each.path.text().rfind('/') + 1);
    });
    if (listed == files.end() && files.size() != 1) return;
    Checksums& published = (listed == files.end() ? files.front() : *listed).checksum;
    for (const auto& algorithm : checksum_algorithms) {
      const std::string& hex = said.*algorithm.value;
      std::string& known = published.*algorithm.value;
      if (!hex.empty() && !known.empty() && hex != known) {
        throw Error(FailureKind::content,
                    fmt::format("{}: its {} is {} by its own answer, and {} by its metalink", file.display(),
                                algorithm.name, hex, known),
                    "one of the two is out of date: ask the publisher");
      }
      if (!hex.empty()) known = hex;
    }
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
  listed.checksum = parse_digests(head.digests);
  // Without a digest nothing would tell a mirror's content from another.
  if (listed.checksum.empty()) listed.urls = {file};
  return listed;
}

void add_mirrors(KnownFetchers& set, const FetcherParts& parts) {
  set.add(std::make_unique<Mirrors>(parts.transport), {"metalink+http", "metalink+https"});
}

}  // namespace sabath
