// The ftp fetcher: anonymous, passive, binary; ranges by REST, size by SIZE, version by MDTM.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/text.h"
#include "ftp/listing.h"
#include "ftp/replies.h"
#include "resolvers/directory.h"
#include "sabath/path.h"
#include "sabath/resolver.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

// One retrieval. The replies tell size and version before the first byte; an empty file has no first byte, so that
// begin() may have to wait for the end.
class Retrieval : public Receiver {
 public:
  Retrieval(const ReadRequest& request, Sink& sink) : request_(request), sink_(sink) {}

  void connecting() override { sink_.connecting(); }
  void connected(const Connected& connection) override {
    facts_ = {};
    reach_ = connection.reach;
    sink_.connected(connection.trip);
  }
  void header(std::string_view line) override {
    if (!begun_) note_reply(facts_, line);
  }
  bool body(std::span<const std::byte> bytes) override {
    begin();
    const std::uint64_t take = std::min<std::uint64_t>(bytes.size(), limit_ - delivered_);
    if (take > 0) sink_.write(bytes.first(take));
    delivered_ += take;
    return delivered_ < limit_;
  }

  void finish(const std::optional<Failure>& failure) {
    if (failure) {
      if (begun_ && delivered_ == limit_) return;
      throw Error(explained(*failure));
    }
    begin();
    if (facts_.size_bytes && delivered_ < limit_) {
      throw Error(FailureKind::network, fmt::format("cannot read {}: truncated: {} of {} bytes came",
                                                    request_.url.display(), delivered_, limit_));
    }
  }

 private:
  void begin() {
    if (begun_) return;
    begun_ = true;
    const Validators found{.etag = {}, .last_modified = version()};
    const Validators& expected = request_.expected;
    if (!expected.last_modified.empty() && !found.last_modified.empty() &&
        expected.last_modified != found.last_modified) {
      throw Error(FailureKind::changed,
                  fmt::format("cannot read {}: the source has another version than the one that was begun",
                              request_.url.display()));
    }
    limit_ = request_.length.value_or(UINT64_MAX);
    if (facts_.size_bytes)
      limit_ = std::min(limit_, *facts_.size_bytes - std::min(*facts_.size_bytes, request_.offset));
    sink_.begin({.size_bytes = facts_.size_bytes,
                 .ranges = facts_.size_bytes.has_value(),
                 .validators = found,
                 .content_type = {},
                 .final_url = request_.url.display(),
                 .reach = reach_});
  }

  // MDTM counts whole seconds: the length tells apart what was written within one.
  std::string version() const {
    if (facts_.modified.empty()) return {};
    return facts_.size_bytes ? fmt::format("{}/{}", facts_.modified, *facts_.size_bytes) : facts_.modified;
  }

  // A source that has become shorter than what was begun has changed.
  Failure explained(Failure failure) const {
    const bool shorter = facts_.size_bytes && *facts_.size_bytes < request_.offset;
    if (shorter && !request_.expected.empty()) failure.kind = FailureKind::changed;
    if (failure.kind != FailureKind::unavailable || facts_.refusal.empty()) return failure;
    failure.message += fmt::format("; the server says: {}", printable(facts_.refusal));
    if (!says_no_permission(facts_.refusal)) return failure;
    failure.kind = FailureKind::access;
    failure.hint = "ask the file's owner for permission, or use another mirror";
    return failure;
  }

  const ReadRequest& request_;
  Sink& sink_;
  FtpFacts facts_;
  std::optional<Reach> reach_;
  bool begun_ = false;
  std::uint64_t delivered_ = 0;
  std::uint64_t limit_ = 0;  // bytes that the sink may get, once begun
};

// A directory's listing as text; `unknown` if the server does not know the command.
class Lines : public Receiver {
 public:
  explicit Lines(const Url& directory) : directory_(directory) {}
  void connected(const Connected&) override { text.clear(); }
  void header(std::string_view line) override {
    // 500 to 504: the command, or its argument, is not known.
    if (line.starts_with("50") && line.size() > 3 && line[2] <= '4' && line[3] == ' ') unknown = true;
  }
  bool body(std::span<const std::byte> bytes) override {
    if (bytes.size() > listing_size_max - text.size())
      throw Error(FailureKind::invalid, fmt::format("the listing of {} is longer than {}", directory_.display(),
                                                    format_bytes(listing_size_max)));
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return true;
  }
  std::string text;
  bool unknown = false;

 private:
  static constexpr std::size_t listing_size_max = 64UL << 20;
  const Url& directory_;
};

class FtpFetcher : public Fetcher, public Resolver {
 public:
  explicit FtpFetcher(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

  std::vector<Scheme> schemes() const override {
    return {{.name = "ftp", .built = true, .ranges = true}, {.name = "ftps", .built = true, .ranges = true}};
  }

  bool lists(const Url& url) const override { return names_directory(url); }

  Listing resolve(const Url& url, Inquiry& inquiry) override {
    Listing listing;
    listing.over_tls = url.scheme() == "ftps";
    bool facts = true;  // until the server turns out not to know MLSD
    listing.files = walk(parse_directory_pattern(url), [&](const Url& directory) {
      std::optional<std::string> text = facts ? list(directory, "MLSD", inquiry) : std::nullopt;
      facts = text.has_value();
      if (!text) text = list(directory, "LIST", inquiry);
      if (!text) {
        throw Error(FailureKind::unavailable,
                    fmt::format("cannot list {}: the server does not say what is there", directory.display()));
      }
      return DirectoryPage{directory, facts ? parse_mlsd(*text, directory) : parse_list(*text, directory)};
    });
    return listing;
  }

  void read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token stop) override {
    const std::string& path = request.url.path();
    if (path.empty() || path.ends_with('/') || path.find(';') != path.npos) {
      throw Error(FailureKind::unavailable, fmt::format("cannot read {}: not the URL of a file", request.url.display()),
                  "a directory cannot be read, and a transfer type after ';' is not taken");
    }
    if (request.offset > INT64_MAX) {
      throw Error(FailureKind::unavailable,
                  fmt::format("cannot read {}: no file has {} bytes", request.url.display(), request.offset));
    }
    Retrieval retrieval(request, sink);
    const TransferRequest transfer{.url = request.url, .headers = {}, .resume_from = request.offset};
    retrieval.finish(transport_->perform(transfer, retrieval, traffic, stop));
  }

 private:
  // nullopt: the server does not know the command.
  std::optional<std::string> list(const Url& directory, const char* command, Inquiry& inquiry) {
    std::optional<std::string> text;
    const Url url = inquiry.rewritten(directory);
    inquiry.attempt(url, [&](Traffic& traffic) {
      Lines lines(directory);
      const TransferRequest transfer{.url = url, .headers = {}, .method = command};
      const auto failure = transport_->perform(transfer, lines, traffic, inquiry.stop());
      if (failure && !lines.unknown) throw Error(*failure);
      if (!failure) text = std::move(lines.text);
    });
    return text;
  }

  std::shared_ptr<Transport> transport_;
};

}  // namespace

void add_ftp(KnownFetchers& set, const FetcherParts& parts) { set.add(std::make_unique<FtpFetcher>(parts.transport)); }

}  // namespace sabath
