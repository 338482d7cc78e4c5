#include "session/pinned.h"

#include <fmt/format.h>

#include "fetch/decide/job.h"
#include "fetch/hosts/by_digest.h"
#include "fetch/hosts/text_sink.h"
#include "sabath/error.h"

namespace sabath {
namespace {

Manifest read_pinned(const Url& url, const Sha256& root, const FetcherSet& fetchers, Traffic& traffic,
                     const std::stop_token& stop) {
  Fetcher* const fetcher = fetchers.find(url.scheme());
  if (fetcher == nullptr) throw Error(FailureKind::unavailable, "no fetcher of this build reads it");
  TextSink document("it", document_size_max);
  fetcher->read({url, 0, std::nullopt, {}}, document, traffic, stop);
  Manifest manifest = Manifest::parse(std::move(document.text));
  if (manifest.root() != root)
    throw Error(FailureKind::content, fmt::format("it has the root {}", manifest.root().prefixed()));
  manifest.check();
  return manifest;
}

}  // namespace

std::optional<Manifest> ask_pinned(const Recipe& recipe, const RewriteRules& rewrites, const FetcherSet& fetchers,
                                   Traffic& traffic, std::vector<std::string>& warnings, const std::stop_token& stop) {
  if (!recipe.manifest) return std::nullopt;
  std::string problem;
  for (const auto& place : recipe.manifest->urls) {
    const Url used = rewritten(place, rewrites);
    const Url url = is_store(used) ? manifest_at(used, recipe.manifest->digest) : used;
    try {
      return read_pinned(url, recipe.manifest->digest, fetchers, traffic, stop);
    } catch (const Error& error) {
      if (error.failure().kind == FailureKind::interrupted || error.failure().kind == FailureKind::internal) throw;
      problem = fmt::format("{}: {}", url.display(), error.failure().message);
    }
  }
  if (!problem.empty()) {
    warnings.push_back(fmt::format("{} is planned without the manifest that pins it, by the sizes of its files ({})",
                                   recipe.name, problem));
  }
  return std::nullopt;
}

}  // namespace sabath
