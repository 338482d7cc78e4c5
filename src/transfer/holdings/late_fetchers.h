// The fetchers of a session, made when they are first asked for: a fetch of content that is there asks none, and their
// libraries take longer to load than such a fetch. Any thread. Throws what make_fetchers throws, at each call.
#pragma once

#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sabath/fetcher.h"

namespace sabath {

class LateFetchers final : public FetcherSet {
 public:
  explicit LateFetchers(FetcherSettings settings) : settings_(std::move(settings)) {}

  Fetcher* find(std::string_view scheme) const override { return made().find(scheme); }
  std::vector<Scheme> schemes() const override { return made().schemes(); }
  Resolver* resolver_for(const Url& url) const override { return made().resolver_for(url); }
  std::string place(const Url& url) const override { return made().place(url); }
  std::string addresses_of(const Url& url, const std::stop_token& stop) const override {
    return made().addresses_of(url, stop);
  }
  void admit_program(const Url& url) const override { made().admit_program(url); }

  FetcherSet& made() const {
    const std::lock_guard lock(mutex_);
    if (!fetchers_) fetchers_ = make_fetchers(settings_);
    return *fetchers_;
  }

 private:
  const FetcherSettings settings_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<FetcherSet> fetchers_;
};

}  // namespace sabath
