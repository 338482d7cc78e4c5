#include "http/http.h"

#include "http/read.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

class HttpFetcher : public Fetcher {
 public:
  explicit HttpFetcher(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

  std::vector<Scheme> schemes() const override {
    return {{.name = "http", .built = true, .ranges = true}, {.name = "https", .built = true, .ranges = true}};
  }

  void read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token stop) override {
    WebPlace place{.url = request.url};
    if (const auto secret = transport_->authorization(request.url))
      place.private_headers.emplace_back(secret->reveal());
    read_web(*transport_, place, request, sink, traffic, stop);
  }

 private:
  std::shared_ptr<Transport> transport_;
};

}  // namespace

std::unique_ptr<Fetcher> make_http_fetcher(std::shared_ptr<Transport> transport) {
  return std::make_unique<HttpFetcher>(std::move(transport));
}

void add_http(KnownFetchers& set, const FetcherParts& parts) {
  set.add(std::make_unique<HttpFetcher>(parts.transport));
}

}  // namespace sabath
