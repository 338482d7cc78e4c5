#include "http/http.h"

#include "http/exchange.h"

namespace sabath {
namespace {

class HttpFetcher : public Fetcher {
 public:
  explicit HttpFetcher(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

  std::vector<Scheme> schemes() const override {
    return {{.name = "http", .built = true, .ranges = true}, {.name = "https", .built = true, .ranges = true}};
  }

  void read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token stop) override {
    Redirects redirects(request.url);
    for (;;) {
      Exchange exchange(request, redirects, sink);
      TransferRequest transfer{.url = redirects.current(), .headers = headers_for(request)};
      if (redirects.current().origin() == request.url.origin()) {  // what is the first one's is shown to nobody else
        if (const auto secret = transport_->authorization(request.url)) transfer.headers.emplace_back(secret->reveal());
      }
      const auto failure = transport_->perform(transfer, exchange, traffic, stop);
      const auto location = exchange.finish(failure);
      if (!location) return;
      redirects.follow(*location);
    }
  }

 private:
  std::shared_ptr<Transport> transport_;
};

}  // namespace

std::unique_ptr<Fetcher> make_http_fetcher(std::shared_ptr<Transport> transport) {
  return std::make_unique<HttpFetcher>(std::move(transport));
}

}  // namespace sabath
