// The sabath and sabath+tls fetcher: content of another store, served by `sabath serve` (docs/serving.md). Plain GET,
// judged as HTTP's answers are; a store has no redirects. (The folder is not called sabath: <sabath/...> is taken.)
#include <fmt/format.h>

#include "base/wording.h"
#include "http/exchange.h"
#include "http/redirects.h"
#include "http/verdict.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

constexpr std::uint16_t port_usual = 7777;

Url web_url(const Url& url) {
  return Url::parse(fmt::format("{}://{}:{}{}", url.scheme() == "sabath" ? "http" : "https", url.host(),
                                url.port().value_or(port_usual), url.path()))
      .named_by(url.namer());
}

// Names the source as its user did.
class Renamed : public Sink {
 public:
  Renamed(Sink& sink, const Url& url) : sink_(sink), url_(url) {}
  void connecting() override { sink_.connecting(); }
  void connected(std::chrono::microseconds trip) override { sink_.connected(trip); }
  void begin(const ContentInfo& info) override {
    ContentInfo own = info;
    own.final_url = url_.display();
    sink_.begin(own);
  }
  void write(std::span<const std::byte> bytes) override { sink_.write(bytes); }

 private:
  Sink& sink_;
  const Url& url_;
};

[[noreturn]] void rethrow_renamed(Failure failure, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = failure.message.find(from, at)) != failure.message.npos; at += to.size()) {
    failure.message.replace(at, from.size(), to);
  }
  throw Error(std::move(failure));
}

constexpr std::string_view no_login_hint =
    "the store wants a token: a line of SABATH_TOKEN, or `tokens` of the configuration (docs/credentials.md)";

constexpr const char* not_served_hint =
    "that store has no content of this hash, or tells it only by a pinned manifest (docs/serving.md): pin one, or "
    "fetch "
    "it from its first source";

class PeerFetcher : public Fetcher {
 public:
  explicit PeerFetcher(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

  std::vector<Scheme> schemes() const override {
    return {{.name = "sabath", .built = true, .ranges = true}, {.name = "sabath+tls", .built = true, .ranges = true}};
  }

  void read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token stop) override {
    if (request.url.path().size() <= 1) {
      throw Error(FailureKind::unavailable,
                  fmt::format("cannot read {}: another store gives content by its hash, and nothing says this one's",
                              request.url.display()),
                  "pin a manifest, or give the file's sha256 in the recipe");
    }
    ReadRequest own = request;
    own.url = web_url(request.url);
    Renamed renamed(sink, request.url);
    try {
      ask(own, request.url, renamed, traffic, stop);
    } catch (const Error& error) {
      Failure failure = error.failure();
      if (failure.message.find("HTTP 404") != failure.message.npos) failure.hint = not_served_hint;
      rethrow_renamed(std::move(failure), own.url.origin(), request.url.origin());
    }
  }

 private:
  void ask(const ReadRequest& request, const Url& given, Sink& sink, Traffic& traffic, std::stop_token stop) {
    Redirects redirects(request.url);
    TransferRequest transfer = transfer_for(request.url, request);
    const auto secret = transport_->authorization(given);
    if (secret) transfer.headers.emplace_back(secret->reveal());
    Exchange exchange(request, redirects, sink, secret ? refused_login_hint : no_login_hint);
    const auto failure = transport_->perform(transfer, exchange, traffic, stop);
    if (exchange.finish(failure)) {
      throw Error(FailureKind::unavailable,
                  fmt::format("cannot read {}: it answers with a redirect, so it is no store", given.display()),
                  fmt::format("name the address where `{}` runs", verb_text("serve")));
    }
  }

  std::shared_ptr<Transport> transport_;
};

}  // namespace

void add_peer(KnownFetchers& set, const FetcherParts& parts) {
  set.add(std::make_unique<PeerFetcher>(parts.transport));
}

}  // namespace sabath
