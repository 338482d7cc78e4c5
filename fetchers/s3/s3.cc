// The s3 fetcher: objects by s3://bucket/key, anonymous or signed, from Amazon or any server that speaks like it.
#include <fmt/format.h>

#include <ctime>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/glob.h"
#include "resolvers/directory.h"
#include "resolvers/pages.h"
#include "s3/exchange.h"
#include "s3/listing.h"
#include "s3/place.h"
#include "s3/profile.h"
#include "s3/sigv4.h"
#include "sabath/error.h"
#include "sabath/resolver.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

// One page of a listing, in memory.
class PageSink : public Sink {
 public:
  void begin(const ContentInfo&) override { text.clear(); }
  void write(std::span<const std::byte> bytes) override {
    constexpr std::size_t page_size_max = 4UL << 20;  // of at most 1000 keys
    if (bytes.size() > page_size_max - text.size())
      throw Error(FailureKind::invalid, "the listing of the bucket is refused: a page is too long");
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::string text;
};

class S3Fetcher : public Fetcher, public Resolver {
 public:
  S3Fetcher(S3Settings settings, std::shared_ptr<Transport> transport)
      : settings_(std::move(settings)), transport_(std::move(transport)) {}

  std::vector<Scheme> schemes() const override { return {{.name = "s3", .built = true, .ranges = true}}; }

  void read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token stop) override {
    const s3::Profile profile = profile_for(request.url);
    ask_where_it_is(
        request, [&](const std::string& region) { return s3::place_of(request.url, profile, region); }, profile, sink,
        traffic, stop);
  }

  // Buckets of one name are many: one at each endpoint, and there may be one by each way to address it.
  std::string place(const Url& url) const override {
    const s3::Profile profile = s3::profile_of(url, s3::read_profile(settings_));
    const std::string at = profile.endpoint_url.empty() ? "amazonaws.com" : profile.endpoint_url;
    return profile.addressing.empty() ? at : at + ' ' + profile.addressing;
  }

  bool lists(const Url& url) const override { return url.path().empty() || names_directory(url); }

  Listing resolve(const Url& url, Inquiry& inquiry) override {
    const s3::Profile profile = profile_for(url);
    const DirectoryPattern at =
        parse_directory_pattern(Url::parse(url.origin() + (url.path().empty() ? "/" : url.path())));
    const std::string prefix = percent_decode(at.top.path().substr(1));
    const ReadRequest request{.url = at.top, .offset = 0, .length = std::nullopt, .expected = {}};
    Listing listing;
    listing.over_tls = s3::place_of_bucket(url.host(), profile, "").origin.starts_with("https:");
    Pages pages(at.top);
    std::string next;
    do {
      PageSink sink;
      inquiry.attempt(url, [&](Traffic& traffic) {
        const auto place = [&](const std::string& region) {
          s3::Place bucket = s3::place_of_bucket(url.host(), profile, region);
          bucket.query = s3::list_query(prefix, "", next);
          return bucket;
        };
        ask_where_it_is(request, place, profile, sink, traffic, inquiry.stop());
      });
      s3::ListPage page = s3::parse_list_page(sink.text);
      for (const auto& object : page.objects) add(listing, url, at, prefix, object);
      next = std::move(page.next);
      if (!next.empty()) pages.turn(next, page.objects.empty() ? "" : page.objects.front().key);
    } while (!next.empty());
    return listing;
  }

 private:
  // Another place of the bucket, with the URL's words about where that is.
  static Url url_at(const Url& url, const std::string& text) {
    return url.query().empty() ? Url::parse(text) : Url::parse(text + "?" + url.query());
  }

  static void add(Listing& listing, const Url& url, const DirectoryPattern& at, const std::string& prefix,
                  const s3::ListedObject& object) {
    if (object.key.ends_with('/')) return;  // stands for a directory
    const std::string below = object.key.starts_with(prefix) ? object.key.substr(prefix.size()) : "";
    if (!at.pattern.empty() && !glob_matches(at.pattern, below)) return;
    auto path = RelativePath::try_parse(below);
    if (!path) {
      throw Error(FailureKind::invalid, fmt::format("the listing of {} is refused: no file may be called \"{}\"",
                                                    at.top.display(), printable(object.key)));
    }
    if (listing.files.size() >= listed_files_max)
      throw Error(FailureKind::invalid,
                  fmt::format("{} holds more than {} objects", at.top.display(), listed_files_max));
    listing.files.push_back({std::move(*path), {url_at(url, child_of(at.top, below).text())}, object.size_bytes, {}});
  }

  // Asks in the region where the bucket really is, which only an answer may say.
  void ask_where_it_is(const ReadRequest& request, const std::function<s3::Place(const std::string& region)>& place_in,
                       const s3::Profile& profile, Sink& sink, Traffic& traffic, const std::stop_token& stop) {
    const std::string bucket = fmt::format("{} {}", profile.endpoint_url, request.url.host());
    std::string region = region_of(bucket);
    for (int hop = 0; hop <= hops_max; ++hop) {
      const auto elsewhere = ask(place_in(region), profile, request, sink, traffic, stop);
      if (!elsewhere) return;
      region = *elsewhere;
      note_region(bucket, region);
    }
    throw Error(FailureKind::unavailable,
                fmt::format("cannot read {}: the bucket is said to be in {}, but that is not the end of it",
                            request.url.display(), region),
                "set the bucket's region and endpoint: s3_region, s3_endpoint");
  }

  // The region in which the bucket really is; nullopt: done.
  std::optional<std::string> ask(const s3::Place& place, const s3::Profile& profile, const ReadRequest& request,
                                 Sink& sink, Traffic& traffic, const std::stop_token& stop) {
    const s3::Unsigned to_sign{
        .host = place.host, .path = place.path, .query = place.query, .headers = {}, .region = place.region};
    const Url url = place.url().named_by(profile.endpoint_namer);
    TransferRequest transfer = transfer_for(url, request);
    for (std::string& line : s3::sign(to_sign, profile.keys, std::time(nullptr))) {
      transfer.headers.push_back(std::move(line));
    }
    s3::Exchange exchange(request, sink);
    auto failure = transport_->perform(transfer, exchange, traffic, stop);
    if (failure) name_source(*failure, url, request.url);
    return exchange.finish(failure, place.region, !profile.keys.empty());
  }

  // The transport speaks of the URL that it was given; people know the other one.
  static void name_source(Failure& failure, const Url& asked, const Url& meant) {
    const std::string text = asked.display();
    if (const std::size_t at = failure.message.find(text); at != std::string::npos) {
      failure.message.replace(at, text.size(), fmt::format("{} ({})", meant.display(), asked.origin()));
    }
  }

  s3::Profile profile_for(const Url& url) {
    const std::lock_guard lock(mutex_);
    if (!profile_) profile_ = s3::read_profile(settings_);
    s3::Profile profile = s3::profile_of(url, *profile_);
    if (!profile.elsewhere.empty()) {
      throw Error(FailureKind::access,
                  fmt::format("cannot read {}: the profile gets its keys by {}, which is not done here", url.display(),
                              profile.elsewhere),
                  "eval \"$(aws configure export-credentials --format env)\" sets them for this shell");
    }
    return profile;
  }

  std::string region_of(const std::string& bucket) {
    const std::lock_guard lock(mutex_);
    const auto found = regions_.find(bucket);
    return found == regions_.end() ? "" : found->second;
  }

  void note_region(const std::string& bucket, const std::string& region) {
    constexpr std::size_t regions_max = 10'000;
    const std::lock_guard lock(mutex_);
    if (regions_.size() < regions_max) regions_[bucket] = region;
  }

  static constexpr int hops_max = 2;  // from region to region
  const S3Settings settings_;
  const std::shared_ptr<Transport> transport_;
  std::mutex mutex_;
  std::optional<s3::Profile> profile_;          // read when it is first needed
  std::map<std::string, std::string> regions_;  // of buckets, as their answers said
};

}  // namespace

void add_s3(KnownFetchers& set, const FetcherParts& parts) {
  set.add(std::make_unique<S3Fetcher>(parts.settings.s3, parts.transport));
}

}  // namespace sabath
