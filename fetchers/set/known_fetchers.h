// The fetchers and resolvers of one session, and which of them serves each scheme. Each folder's add_NAME() adds its
// own; all.cc lists them. The first one added serves a scheme, but for preferences and a program's own fetchers. Filled
// by one thread, then read by any.
#pragma once

#include <concepts>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "curl/transport.h"
#include "sabath/fetcher.h"
#include "sabath/resolver.h"

namespace sabath {

// The parts that fetchers are made from.
struct FetcherParts {
  const FetcherSettings& settings;
  std::shared_ptr<Transport> transport;  // HTTP and FTP, with connections that are kept
};

class KnownFetchers : public FetcherSet {
 public:
  explicit KnownFetchers(const FetcherSettings& settings) : settings_(settings) { settings_.more.clear(); }
  // A fetcher for the schemes that it names; one that is a resolver, too, also lists them.
  template <std::derived_from<Fetcher> T>
  void add(std::unique_ptr<T> fetcher) {
    Resolver* resolver = nullptr;
    if constexpr (std::derived_from<T, Resolver>) resolver = fetcher.get();
    add_both(std::move(fetcher), resolver);
  }
  // A resolver alone, which lists what these schemes name.
  void add(std::unique_ptr<Resolver> resolver, const std::vector<std::string>& schemes);
  // It is asked before the others, for every scheme.
  void add_for_all(std::unique_ptr<Resolver> resolver) { for_all_.push_back(std::move(resolver)); }
  // Of the program that uses the library: it comes before ours.
  void add_foreign(const std::shared_ptr<Fetcher>& fetcher);
  // From now on the one of this name serves the scheme, even if others could; "": ours. Throws Error{usage}.
  void prefer(const std::string& scheme, const std::string& name);

  [[nodiscard]] Fetcher* find(std::string_view scheme) const override;
  [[nodiscard]] Resolver* resolver_for(const Url& url) const override;
  [[nodiscard]] std::string place(const Url& url) const override;
  [[nodiscard]] std::vector<Scheme> schemes() const override;
  [[nodiscard]] std::string addresses_of(const Url& url, const std::stop_token& stop) const override;
  void admit_program(const Url& url) const override;

 private:
  struct Entry {
    Scheme scheme;
    Fetcher* fetcher = nullptr;    // reads what the URL names
    Resolver* resolver = nullptr;  // lists what stands below it
  };
  void add_both(std::unique_ptr<Fetcher> fetcher, Resolver* resolver);

  FetcherSettings settings_;
  std::vector<std::unique_ptr<Fetcher>> fetchers_;
  std::vector<std::shared_ptr<Fetcher>> foreign_;
  std::vector<std::unique_ptr<Resolver>> resolvers_, for_all_;
  std::vector<Entry> entries_;
};

}  // namespace sabath
