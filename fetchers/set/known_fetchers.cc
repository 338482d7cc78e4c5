#include "set/known_fetchers.h"

#include <fmt/format.h>
#include <algorithm>

#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "set/addresses.h"

namespace sabath {

// Schemes that science uses and that no fetcher of this build serves: an external program may (docs/commands.md).
constexpr std::string_view not_built[] = {"az", "gs", "gsiftp", "irods", "root"};

void KnownFetchers::add_both(std::unique_ptr<Fetcher> fetcher, Resolver* resolver) {
  for (Scheme& scheme : fetcher->schemes()) {
    entries_.push_back({std::move(scheme), fetcher.get(), resolver});
    entries_.back().scheme.resolver = resolver != nullptr;
  }
  fetchers_.push_back(std::move(fetcher));
}

void KnownFetchers::add(std::unique_ptr<Resolver> resolver, const std::vector<std::string>& schemes) {
  for (const std::string& name : schemes) {
    auto entry = std::ranges::find_if(entries_, [&](const Entry& e) { return e.scheme.name == name; });
    if (entry == entries_.end()) entry = entries_.insert(entry, {.scheme = {.name = name, .built = true}});
    entry->scheme.resolver = true;
    entry->resolver = resolver.get();
  }
  resolvers_.push_back(std::move(resolver));
}

void KnownFetchers::add_foreign(const std::shared_ptr<Fetcher>& fetcher) {
  const auto schemes = fetcher->schemes();
  for (auto scheme = schemes.rbegin(); scheme != schemes.rend(); ++scheme)
    entries_.insert(entries_.begin(), {.scheme = *scheme, .fetcher = fetcher.get()});
  foreign_.push_back(fetcher);
}

void KnownFetchers::prefer(const std::string& scheme, const std::string& name) {
  const auto entry =
      std::ranges::find_if(entries_, [&](const Entry& e) { return e.scheme.name == scheme && e.scheme.by == name; });
  if (entry == entries_.end()) {
    throw Error(FailureKind::usage,
                "the configuration prefers what is not there: " + printable(scheme) + " by " +
                    (name.empty() ? "SABATH itself" : printable(name)),
                fmt::format("`{}` without that preference lists who can read what", verb_text("fetchers")));
  }
  std::rotate(entries_.begin(), entry, entry + 1);
}

Fetcher* KnownFetchers::find(std::string_view scheme) const {
  const auto entry = std::ranges::find_if(entries_, [&](const Entry& e) { return e.scheme.name == scheme; });
  return entry == entries_.end() ? nullptr : entry->fetcher;
}

Resolver* KnownFetchers::resolver_for(const Url& url) const {
  for (const auto& resolver : for_all_) {
    if (resolver->lists(url)) return resolver.get();
  }
  const auto entry =
      std::ranges::find_if(entries_, [&](const Entry& e) { return e.scheme.name == url.scheme() && e.resolver; });
  return entry == entries_.end() || !entry->resolver->lists(url) ? nullptr : entry->resolver;
}

// Another fetcher that may serve the scheme reads the same settings as ours.
std::string KnownFetchers::place(const Url& url) const {
  const std::string scheme = url.scheme() == "ssh" || url.scheme() == "scp" ? "sftp" : url.scheme();
  for (const Entry& entry : entries_) {
    if (entry.scheme.name != scheme || entry.fetcher == nullptr) continue;
    if (std::string place = entry.fetcher->place(url); !place.empty()) return place;
  }
  return "";
}

std::string KnownFetchers::addresses_of(const Url& url, const std::stop_token& stop) const {
  return resolve_entry(url, judged_addresses(url, settings_, stop));
}

void KnownFetchers::admit_program(const Url& url) const { sabath::admit_program(url, settings_); }

std::vector<Scheme> KnownFetchers::schemes() const {
  std::vector<Scheme> all;
  for (const Entry& entry : entries_) all.push_back(entry.scheme);
  for (const std::string_view name : not_built) {
    if (find(name) == nullptr) all.push_back({.name = std::string(name)});
  }
  return all;
}

}  // namespace sabath
