// Every fetcher of this build, listed by hand: one line makes a new one known.

#include <algorithm>

#include "curl/transport.h"
#include "file/file.h"
#include "ftp/ftp.h"
#include "http/http.h"
#include "sabath/fetcher.h"
#include "sftp/sftp.h"

namespace sabath {
namespace {

// Schemes that recipes use and that no fetcher of this build serves.
constexpr std::string_view known[] = {"ftps", "s3", "globus", "hf", "zenodo", "doi", "oci", "sabath"};

class AllFetchers : public FetcherSet {
 public:
  explicit AllFetchers(const FetcherSettings& settings) {
    const auto transport = std::make_shared<Transport>(settings);
    add(make_http_fetcher(transport));
    add(make_ftp_fetcher(transport));
    add(make_file_fetcher());
    add(make_sftp_fetcher(settings));
  }

  Fetcher* find(std::string_view scheme) const override {
    const auto entry =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.scheme.name == scheme; });
    return entry == entries_.end() ? nullptr : entry->fetcher;
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
    Fetcher* fetcher;
  };

  void add(std::unique_ptr<Fetcher> fetcher) {
    for (Scheme& scheme : fetcher->schemes()) entries_.push_back({std::move(scheme), fetcher.get()});
    fetchers_.push_back(std::move(fetcher));
  }

  std::vector<std::unique_ptr<Fetcher>> fetchers_;
  std::vector<Entry> entries_;
};

}  // namespace

std::unique_ptr<FetcherSet> make_fetchers(const FetcherSettings& settings) {
  return std::make_unique<AllFetchers>(settings);
}

}  // namespace sabath
