#include "holdings/stores.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "base/wording.h"
#include "fetch/decide/rewrite.h"
#include "holdings/late_fetchers.h"
#include "sabath/error.h"
#include "store/lookup.h"

namespace sabath {
namespace {

// Their URLs say all. (Fetchers take longer to load than a lookup takes.)
constexpr std::array<std::string_view, 8> plain_schemes = {"http", "https", "ftp",    "ftps",
                                                           "file", "oci",   "zenodo", "sabath"};

constexpr std::uint64_t configuration_size_max = 16ULL << 20;

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
    } catch (const Error& error) {  // a read of it reports the error
      return error.what();
    }
  }

  const bool plain_;
  const LateFetchers fetchers_;
  std::mutex mutex_;  // of what follows
  std::map<std::string, std::string> known_;
};

// All that decides what a URL means, or stands in the files that do; empty: nothing is set.
std::string meaning_of_urls(const SessionSettings& settings) {
  const FetcherSettings& of = settings.fetchers;
  nlohmann::json all = {{"rewrites", settings.rewrites}, {"s3", {of.s3.endpoint_url, of.s3.addressing, of.s3.profile}},
                        {"hub", of.hub.endpoint},        {"globus", of.globus.api},
                        {"prefer", of.commands.prefer},  {"ssh", of.ssh.config.native()}};
  const std::string nothing = R"({"globus":"","hub":"","prefer":{},"rewrites":[],"s3":["","",""],"ssh":""})";
  std::string text = all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text == nothing) text.clear();
  const std::filesystem::path ssh =
      of.ssh.config.empty() && !of.ssh.home.empty() ? of.ssh.home / ".ssh/config" : of.ssh.config;
  for (const auto& file : {ssh, of.s3.config_file}) {
    if (const auto said = file.empty() ? std::nullopt : try_read_text(file, configuration_size_max)) text += *said;
  }
  return text.empty() ? "" : sha256(text).hex();
}

}  // namespace

SourceNames source_names(const SessionSettings& settings) {
  const auto name = [rules = settings.rewrites, places = std::make_shared<Places>(settings.fetchers)](const Url& url) {
    const Url asked = rewritten(url, rules);
    std::string place = places->of(asked);
    const auto other = Url::try_parse(place);  // a hub, which a rule may lead elsewhere
    if (other) place = rewritten(*other, rules).text();
    return place.empty() ? asked.text() : asked.text() + " at " + place;
  };
  return SourceNames(name, meaning_of_urls(settings));
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
  std::unique_ptr<Store> store;
  try {
    store = Store::open(settings.store, create);
  } catch (const Error& error) {
    Failure failure = error.failure();
    if (!create || failure.kind != FailureKind::storage) throw;
    failure.hint += fmt::format("{}name a store that you may write by {} DIR or SABATH_STORE",
                                failure.hint.empty() ? "" : "; or ", option_text("store"));
    throw Error(failure);
  }
  look_into_others(*store, settings);
  return store;
}

}  // namespace sabath
