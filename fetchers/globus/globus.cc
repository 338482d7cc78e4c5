// Globus collections: globus://COLLECTION/path. A collection's own HTTPS server is read by ranges; where there is none,
// the Transfer API delivers to a collection that this machine sees as a directory, and the file is read there. Listings
// come from the same API. docs/globus.md is for users.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>

#include "base/percent.h"
#include "file/file.h"
#include "globus/courier.h"
#include "globus/service.h"
#include "http/read.h"
#include "resolvers/directory.h"
#include "resolvers/pages.h"
#include "sabath/error.h"
#include "sabath/resolver.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

using globus::Caller;
using globus::Courier;
using globus::Place;

// Stands between a fetcher that reads for us and our caller: notes the bytes read, and renames the source.
class Passage : public Sink {
 public:
  using Begin = std::function<void(ContentInfo&)>;
  Passage(Sink& sink, Begin begin) : sink_(sink), begin_(std::move(begin)) {}
  void connecting() override { sink_.connecting(); }
  void connected(std::chrono::microseconds trip) override { sink_.connected(trip); }
  void begin(const ContentInfo& info) override {
    ContentInfo own = info;
    begin_(own);
    begun = true;
    sink_.begin(own);
  }
  void write(std::span<const std::byte> bytes) override {
    handed += bytes.size();
    sink_.write(bytes);
    written = handed;
  }
  bool begun = false;
  std::uint64_t handed = 0, written = 0;  // bytes given to the sink; those that it took without objection

 private:
  Sink& sink_;
  Begin begin_;
};

std::string globus_login_hint(const std::string& collection, const Url& server) {
  return fmt::format(
      "name a file or a program in `tokens` that has a token for {} with the scope "
      "https://auth.globus.org/scopes/{}/https (docs/globus.md)",
      server.origin(), collection);
}

class GlobusFetcher : public Fetcher, public Resolver {
 public:
  GlobusFetcher(const FetcherSettings& settings, const std::shared_ptr<Transport>& transport)
      : settings_(settings.globus),
        patience_(settings.commands.deadline_s),
        service_(settings.globus, transport),
        transport_(transport),
        local_(make_file_fetcher()) {}

  // Files that were read whole are in the store, or were wrong; the others wait for the next run.
  ~GlobusFetcher() override {
    for (const auto& [url, courier] : couriers_) {
      if (courier->is_read()) courier->take_away();
    }
  }

  std::vector<Scheme> schemes() const override { return {{.name = "globus", .built = true, .ranges = true}}; }
  std::string place(const Url&) const override { return settings_.api; }

  void read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token stop) override {
    const Place place = globus::parse_place(request.url);
    const Caller caller{"cannot read " + request.url.display(), traffic, stop};
    if (place.path.ends_with('/'))
      throw Error(FailureKind::unavailable, caller.what + ": it names a directory", "name a file");
    const bool delivers = !settings_.collection.empty();
    if (!delivers || !settings_.by_transfer) {
      if (const auto server = server_of(place.collection, caller)) return read_web(request, *server, sink, caller);
    }
    if (!delivers) {
      throw Error(FailureKind::unavailable,
                  fmt::format("{}: its collection has no HTTPS server, and nothing says where Globus may deliver it",
                              caller.what),
                  "set `globus` in the configuration (docs/globus.md)");
    }
    read_delivered(request, sink, caller);
  }

  bool lists(const Url& url) const override { return names_directory(url); }

  Listing resolve(const Url& url, Inquiry& inquiry) override {
    Listing listing;
    listing.over_tls = service_.url().scheme() == "https";
    listing.files = walk(parse_directory_pattern(url), [&](const Url& directory) {
      const Place place = globus::parse_place(directory);
      DirectoryPage all{directory, {}};
      globus::Page page;
      Pages pages(directory);
      std::size_t offset = 0;
      do {
        inquiry.attempt(service_.url(), [&](Traffic& traffic) {
          page = service_.list(place, offset, {"cannot list " + directory.display(), traffic, inquiry.stop()});
        });
        offset += page.listed;
        if (offset > listed_files_max)
          throw Error(FailureKind::invalid, fmt::format("the listing of {} has no end", directory.display()));
        if (page.more) pages.turn(std::to_string(offset), page.entries.empty() ? "" : page.entries.front().name);
        for (auto& entry : page.entries) all.entries.push_back(std::move(entry));
      } while (page.more);
      return all;
    });
    return listing;
  }

 private:
  std::optional<Url> server_of(const std::string& collection, const Caller& caller) {
    {
      const std::lock_guard lock(mutex_);
      const auto known = servers_.find(collection);
      if (known != servers_.end()) return known->second;
    }
    const auto server = service_.https_server(collection, caller);
    const std::lock_guard lock(mutex_);
    return servers_.insert_or_assign(collection, server).first->second;
  }

  void read_web(const ReadRequest& request, const Url& server, Sink& sink, const Caller& caller) {
    ReadRequest real = request;
    real.url = Url::parse(server.origin() + request.url.path()).named_by(server.namer());
    const std::string hint = globus_login_hint(request.url.host(), server);
    const std::string ours = "globus://" + request.url.host();
    Passage passage(sink, [&](ContentInfo& info) {
      // A user who is not logged in is led to a login page elsewhere, which says 200.
      const auto led = Url::try_parse(info.final_url);
      info.final_url = request.url.display();
      if (led && led->origin() == server.origin()) return;
      throw Error(FailureKind::access, fmt::format("{}: {} wants a login", caller.what, server.origin()), hint);
    });
    try {
      WebPlace place{.url = real.url, .access_hint = hint};
      if (const auto secret = transport_->authorization(real.url)) place.private_headers.emplace_back(secret->reveal());
      sabath::read_web(*transport_, place, real, passage, caller.traffic, caller.stop);
    } catch (const Error& error) {
      Failure failure = error.failure();
      for (std::size_t at = 0; (at = failure.message.find(server.origin(), at)) != failure.message.npos;
           at += ours.size()) {
        failure.message.replace(at, server.origin().size(), ours);
      }
      throw Error(std::move(failure));
    }
  }

  void read_delivered(const ReadRequest& request, Sink& sink, const Caller& caller) {
    const auto courier = courier_for(request.url);
    const globus::FileFacts facts = courier->facts(caller);
    if (!request.expected.etag.empty() && request.expected.etag != facts.version)
      throw Error(FailureKind::changed, caller.what + ": it has another version than the one that was begun");
    if (request.offset > facts.size_bytes)
      throw Error(FailureKind::unavailable, fmt::format("{}: it ends at byte {}, before offset {}", caller.what,
                                                        facts.size_bytes, request.offset));
    const auto name = [&](ContentInfo& info) {
      info.validators = {.etag = facts.version, .last_modified = {}};
      info.final_url = request.url.display();
    };
    Passage passage(sink, name);
    if (request.length == 0U) {  // the facts alone: nothing needs to be moved
      return passage.begin(
          {.size_bytes = facts.size_bytes, .ranges = true, .validators = {}, .content_type = {}, .final_url = {}});
    }
    const ReadRequest real{.url = Url::parse("file://" + percent_encode_path(courier->bring(caller).string())),
                           .offset = request.offset,
                           .length = request.length,
                           .expected = {}};
    const std::uint64_t rest = facts.size_bytes - request.offset;
    const ByteRange asked{request.offset, request.offset + std::min(request.length.value_or(rest), rest)};
    try {
      local_->read(real, passage, caller.traffic, caller.stop);
    } catch (const Error& error) {
      courier->note_read(asked, passage.written);
      if (passage.begun || error.failure().kind != FailureKind::unavailable) throw;
      // Another process has read all of it, and taken it away.
      throw Error(FailureKind::network, error.failure().message);
    } catch (...) {  // the sink has enough: another lane reads the rest
      courier->note_read({asked.begin, std::min(asked.begin + passage.handed, asked.end)}, passage.handed);
      throw;
    }
    courier->note_read(asked, passage.written);
  }

  std::shared_ptr<Courier> courier_for(const Url& url) {
    const std::lock_guard lock(mutex_);
    auto& courier = couriers_[url.text()];
    if (!courier) courier = std::make_shared<Courier>(service_, settings_, url, patience_);
    return courier;
  }

  const GlobusSettings settings_;
  const std::chrono::seconds patience_;
  const globus::Service service_;
  const std::shared_ptr<Transport> transport_;
  const std::unique_ptr<Fetcher> local_;
  std::mutex mutex_;
  std::map<std::string, std::optional<Url>> servers_;
  std::map<std::string, std::shared_ptr<Courier>> couriers_;
};

}  // namespace

void add_globus(KnownFetchers& set, const FetcherParts& parts) {
  set.add(std::make_unique<GlobusFetcher>(parts.settings, parts.transport));
}

}  // namespace sabath
