// Every fetcher of this build, listed by hand: one line makes a new one known.

#include <algorithm>

#include "command/command.h"
#include "curl/transport.h"
#include "file/file.h"
#include "ftp/ftp.h"
#include "globus/globus.h"
#include "hf/hf.h"
#include "http/http.h"
#include "lfs/lfs.h"
#include "oci/oci.h"
#include "peer/peer.h"
#include "resolvers/bag.h"
#include "resolvers/mirrors.h"
#include "resolvers/repository.h"
#include "resolvers/web_directory.h"
#include "s3/s3.h"
#include "sabath/error.h"
#include "sabath/fetcher.h"
#include "sabath/path.h"
#include "sabath/resolver.h"
#include "sftp/sftp.h"

namespace sabath {
namespace {

// Schemes that science uses and that no fetcher of this build serves: an external program may (docs/commands.md).
constexpr std::string_view known[] = {"az", "gs", "gsiftp", "irods", "root"};

class AllFetchers : public FetcherSet {
 public:
  explicit AllFetchers(const FetcherSettings& settings) {
    const auto transport = std::make_shared<Transport>(settings);
    add(make_http_fetcher(transport));
    add(make_ftp_fetcher(transport));
    add(make_file_fetcher(settings.admit));
    add(make_peer_fetcher(transport));
    add(make_sftp_fetcher(settings));
    add(make_s3_fetcher(settings.s3, transport));
    add(make_hf_fetcher(settings.hub, transport));
    add(make_globus_fetcher(settings, transport));
    add(make_oci_fetcher(settings.registries, transport));
    add(make_lfs_fetcher(transport));
    add(make_repository_resolver(transport), {"zenodo", "doi"});
    add(make_mirrors_resolver(transport), {"metalink+http", "metalink+https"});
    add(make_web_directory_resolver(transport), {"http", "https", "dav", "davs"});
    for (auto& fetcher : make_command_fetchers(settings)) add(std::move(fetcher));
    for (const auto& [scheme, name] : settings.commands.prefer) prefer(scheme, name == "native" ? "" : name);
    for (const auto& fetcher : settings.more) add_foreign(fetcher);
  }

  Fetcher* find(std::string_view scheme) const override {
    const auto entry =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.scheme.name == scheme; });
    return entry == entries_.end() ? nullptr : entry->fetcher;
  }

  Resolver* resolver_for(const Url& url) const override {
    if (bag_->lists(url)) return bag_.get();  // by whatever protocol
    const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& e) { return e.scheme.name == url.scheme() && e.resolver; });
    return entry == entries_.end() || !entry->resolver->lists(url) ? nullptr : entry->resolver;
  }

  // Who may serve the scheme in our place reads the same settings.
  std::string place(const Url& url) const override {
    const std::string scheme = url.scheme() == "ssh" || url.scheme() == "scp" ? "sftp" : url.scheme();
    for (const Entry& entry : entries_) {
      if (entry.scheme.name != scheme || entry.fetcher == nullptr) continue;
      if (std::string place = entry.fetcher->place(url); !place.empty()) return place;
    }
    return "";
  }

  std::vector<Scheme> schemes() const override {
    std::vector<Scheme> all;
    for (const Entry& entry : entries_) all.push_back(entry.scheme);
    for (const std::string_view name : known) {
      if (find(name) == nullptr) all.push_back({.name = std::string(name)});
    }
    return all;
  }

 private:
  struct Entry {
    Scheme scheme;
    Fetcher* fetcher = nullptr;    // reads what the URL names
    Resolver* resolver = nullptr;  // lists what stands below it
  };

  void add(std::unique_ptr<Fetcher> fetcher) {
    auto* const resolver = dynamic_cast<Resolver*>(fetcher.get());  // where one class does both
    for (Scheme& scheme : fetcher->schemes()) {
      entries_.push_back({std::move(scheme), fetcher.get(), resolver});
      entries_.back().scheme.resolver = resolver != nullptr;
    }
    fetchers_.push_back(std::move(fetcher));
  }

  void add(std::unique_ptr<Resolver> resolver, const std::vector<std::string>& schemes) {
    for (const std::string& name : schemes) {
      auto entry =
          std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.scheme.name == name; });
      if (entry == entries_.end()) entry = entries_.insert(entry, {.scheme = {.name = name, .built = true}});
      entry->scheme.resolver = true;
      entry->resolver = resolver.get();
    }
    resolvers_.push_back(std::move(resolver));
  }

  // From now on this one serves the scheme, whoever else could.
  void prefer(const std::string& scheme, const std::string& name) {
    const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& e) { return e.scheme.name == scheme && e.scheme.by == name; });
    if (entry == entries_.end()) {
      throw Error(FailureKind::usage,
                  "the configuration prefers what is not there: " + printable(scheme) + " by " +
                      (name.empty() ? "SABATH itself" : printable(name)),
                  "`sabath fetchers` without that preference lists who can read what");
    }
    std::rotate(entries_.begin(), entry, entry + 1);
  }

  void add_foreign(const std::shared_ptr<Fetcher>& fetcher) {
    const auto schemes = fetcher->schemes();
    for (auto scheme = schemes.rbegin(); scheme != schemes.rend(); ++scheme) {
      entries_.insert(entries_.begin(), {.scheme = *scheme, .fetcher = fetcher.get()});
    }
    foreign_.push_back(fetcher);
  }

  std::vector<std::unique_ptr<Fetcher>> fetchers_;
  std::vector<std::shared_ptr<Fetcher>> foreign_;
  const std::unique_ptr<Resolver> bag_ = make_bag_resolver();
  std::vector<std::unique_ptr<Resolver>> resolvers_;
  std::vector<Entry> entries_;
};

}  // namespace

std::unique_ptr<FetcherSet> make_fetchers(const FetcherSettings& settings) {
  return std::make_unique<AllFetchers>(settings);
}

}  // namespace sabath
