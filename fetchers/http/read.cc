#include "http/read.h"

#include <fmt/format.h>

#include <utility>

#include "http/exchange.h"
#include "http/redirects.h"

namespace sabath {
namespace {

// Tells what the sink throws from what is ours: that comes back unchanged.
class Noting : public Sink {
 public:
  explicit Noting(Sink& sink) : sink_(sink) {}
  void connecting() override { sink_.connecting(); }
  void connected(std::chrono::microseconds trip) override { sink_.connected(trip); }
  void begin(const ContentInfo& info) override {
    threw = true;
    sink_.begin(info);
    threw = false;
  }
  void write(std::span<const std::byte> bytes) override {
    threw = true;
    sink_.write(bytes);
    threw = false;
  }
  bool threw = false;

 private:
  Sink& sink_;
};

void follow(Transport& transport, const WebPlace& place, const ReadRequest& real, Sink& sink, Traffic& traffic,
            const std::stop_token& stop) {
  Redirects redirects(real.url);
  Checksums by_etag;
  std::vector<std::string> cookies;  // of these redirects alone: they are no login that lasts
  for (;;) {
    Exchange exchange(real, redirects, sink, place.access_hint, place.hub ? &by_etag : nullptr);
    TransferRequest transfer = transfer_for(redirects.current(), real);
    const auto had = cookies;
    transfer.cookies = &cookies;
    if (transfer.url.origin() == real.url.origin())  // the first origin's headers go to no other
      transfer.headers.insert(transfer.headers.end(), place.private_headers.begin(), place.private_headers.end());
    const auto failure = transport.perform(transfer, exchange, traffic, stop);
    const auto location = exchange.finish(failure);
    if (!location) return;
    redirects.follow(*location, cookies != had);
  }
}

}  // namespace

void read_web(Transport& transport, const WebPlace& place, const ReadRequest& request, Sink& sink, Traffic& traffic,
              const std::stop_token& stop) {
  ReadRequest real = request;
  real.url = place.url;
  Noting noting(sink);
  try {
    follow(transport, place, real, noting, traffic, stop);
  } catch (const Error& error) {
    if (noting.threw) throw;
    throw Error(named(error.failure(), request.url));
  }
}

Failure named(Failure failure, const Url& url) {
  const std::string name = url.display();
  if (failure.message.find(name) != failure.message.npos) return failure;
  constexpr std::string_view verb = "cannot read ";
  if (failure.message.starts_with(verb)) failure.message.erase(0, verb.size());
  failure.message = fmt::format("{}{}: {}", verb, name, failure.message);
  return failure;
}

}  // namespace sabath
