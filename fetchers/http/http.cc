// The http and https fetcher: GET over kept HTTP/1.1 connections, ranges checked strictly, redirects followed by hand.
#include <fmt/format.h>

#include <memory>

#include "base/named_checksum.h"
#include "base/reach.h"
#include "curl/transport.h"
#include "http/read.h"
#include "http/verdict.h"
#include "sabath/error.h"
#include "sabath/fetcher.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

// Where a host gives content by its hash: ni://HOST/ALGORITHM;HASH (RFC 6920, section 4). ni:///ALGORITHM;HASH, without
// a host, names what the other sources of a file give.
Url place_by_hash(const Url& url) {
  if (url.scheme() != "ni") return url;
  const auto refuse = [&](const char* why, const char* hint) {
    throw Error(FailureKind::unavailable, fmt::format("cannot read {}: {}", url.display(), why), hint);
  };
  if (checksum_in_name(url).empty()) {
    refuse("its hash is none that is computed here",
           "write ni://HOST/sha-256;HASH, with the whole hash in base64 as RFC 6920 has it");
  }
  if (url.host().empty()) refuse("it names content, and no host that has it", "give the file another source beside it");
  std::string name = url.path();
  name[name.find(';')] = '/';
  return Url::parse(fmt::format("{}://{}{}/.well-known/ni{}", reach_of(url) == Reach::host ? "http" : "https",
                                url.host(), url.port() ? fmt::format(":{}", *url.port()) : "", name))
      .named_by(url.namer());
}

class HttpFetcher : public Fetcher {
 public:
  explicit HttpFetcher(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

  std::vector<Scheme> schemes() const override {
    return {{.name = "http", .built = true, .ranges = true},
            {.name = "https", .built = true, .ranges = true},
            {.name = "ni", .built = true, .ranges = true}};
  }

  void read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token stop) override {
    WebPlace place{.url = place_by_hash(request.url)};
    if (const auto secret = transport_->authorization(place.url)) {
      place.private_headers.emplace_back(secret->reveal());
      place.access_hint = refused_login_hint;
    }
    read_web(*transport_, place, request, sink, traffic, stop);
  }

 private:
  std::shared_ptr<Transport> transport_;
};

}  // namespace

void add_http(KnownFetchers& set, const FetcherParts& parts) {
  set.add(std::make_unique<HttpFetcher>(parts.transport));
}

}  // namespace sabath
