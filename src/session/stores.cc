#include "session/stores.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "fetch/rewrite.h"
#include "sabath/error.h"
#include "session/late_fetchers.h"
#include "store/lookup.h"

namespace sabath {
namespace {

// Their URLs say all. (Fetchers take longer to load than a lookup takes.)
constexpr std::array<std::string_view, 8> plain_schemes = {"http", "https", "ftp",    "ftps",
                                                           "file", "oci",   "zenodo", "sabath"};

class Places {
 public:
  explicit Places(const FetcherSettings& settings) : plain_(settings.more.empty()), fetchers_(settings) {}

  std::string of(const Url& url) {
    if (plain_ && std::ranges::find(plain_schemes, url.scheme()) != plain_schemes.end()) return "";
    const bool home = url.path().starts_with("/~");
    const std::string key = url.origin() + (home ? "/~" : "");
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    return known_.emplace(key, asked(url)).first->second;
  }

 private:
  std::string asked(const Url& url) const {
    try {
      return fetchers_.place(url);
    } catch (const Error& error) {  // whoever reads it is told so
      return error.what();
    }
  }

  const bool plain_;
  const LateFetchers fetchers_;
  std::mutex mutex_;  // of what follows
  std::map<std::string, std::string> known_;
};

}  // namespace

SourceNames source_names(const SessionSettings& settings) {
  return [rules = settings.rewrites, places = std::make_shared<Places>(settings.fetchers)](const Url& url) {
    const Url asked = rewritten(url, rules);
    std::string place = places->of(asked);
    const auto other = Url::try_parse(place);  // a hub, which a rule may lead elsewhere
    if (other) place = rewritten(*other, rules).text();
    return place.empty() ? asked.text() : asked.text() + " at " + place;
  };
}

void look_into_others(Store& store, const SessionSettings& settings) {
  Lookup lookup{settings.other_stores, {}};
  lookup.trusted.assign(settings.trusted_owners.begin(), settings.trusted_owners.end());
  look_also(store, lookup);
  store.work_for(settings.job);
  store.name_sources(source_names(settings));
}

std::unique_ptr<Store> try_open_store(const std::filesystem::path& directory) {
  try {
    return Store::open(directory, false);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::not_found) throw;
    return nullptr;
  }
}

std::unique_ptr<Store> open_store_of(const SessionSettings& settings, bool create) {
  auto store = Store::open(settings.store, create);
  look_into_others(*store, settings);
  return store;
}

}  // namespace sabath
