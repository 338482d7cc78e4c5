#include "fetch/transfer/at_hand.h"

#include <fcntl.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "fetch/hosts/source_key.h"
#include "sabath/error.h"
#include "sabath/recipe.h"

namespace sabath {
namespace {

bool has_stronger(const Checksums& published, const ChecksumAlgorithm& than) {
  return std::ranges::any_of(checksum_algorithms, [&](const auto& algorithm) {
    return algorithm.digits > than.digits && !(published.*algorithm.value).empty();
  });
}

// By something that finds content in a store. git's name of a blob only judges what a source gives.
bool is_stated(const Checksums& published) {
  return std::ranges::any_of(checksum_algorithms, [&](const auto& each) { return !(published.*each.value).empty(); });
}

// By its own bytes: no source need be believed. False: it is fetched, and a source that gives it is reported as wrong.
bool proves(const FetchContext& context, const Digest& digest, const FileJob& job, FileOutcome& outcome) {
  if (job.size_bytes && *job.size_bytes != digest.size_bytes) return false;
  const auto content = context.store.open_content(digest);
  if (!content) return false;
  ChecksumSet sums(job.checksum, digest.size_bytes);
  std::vector<std::byte> room(1 << 20);
  for (std::uint64_t at = 0; at < digest.size_bytes;) {
    if (context.stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
    const std::size_t n = content->read(at, room);
    if (n == 0) return false;
    sums.update(std::span(room).first(n));
    at += n;
  }
  try {
    outcome.computed = sums.finish_and_compare(job.name);
    return true;
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::content) throw;
    return false;
  }
}

// The content that one of the job's mirrors gave to a fetch before: where it states no checksum, to any recipe.
std::optional<Arrival> arrived(const Store& store, const FileJob& job) {
  if (auto arrival = store.arrival(source_key(job))) return arrival;
  for (std::size_t i = 0; !is_stated(job.checksum) && i < job.urls.size(); ++i) {
    const auto arrival = store.arrival(given_key(job, i));
    if (arrival && job.size_bytes.value_or(arrival->digest.size_bytes) == arrival->digest.size_bytes) return arrival;
  }
  return std::nullopt;
}

// Content that has this checksum by the word of other users, or that a mirror gave before the recipe stated one.
std::set<Digest> hints_of(const Store& store, const FileJob& job) {
  std::set<Digest> hints;
  for (const auto& algorithm : checksum_algorithms) {
    const std::string& hex = job.checksum.*algorithm.value;
    if (!algorithm.finds || hex.empty()) continue;
    if (const auto hint = store.alias_hint(algorithm.name, hex)) hints.insert(*hint);
  }
  for (std::size_t i = 0; i < job.urls.size(); ++i) {
    if (const auto arrival = store.arrival(given_key(job, i))) hints.insert(arrival->digest);
  }
  return hints;
}

// Its chunk layer is not at hand: read once. A collection may take it away just now; being missed brings it back.
std::optional<FileTree> tree_of(Store& store, const Digest& digest) {
  auto fd = try_open_file(store.object_path(digest), O_RDONLY);
  if (!fd && store.present(digest)) fd = try_open_file(store.object_path(digest), O_RDONLY);
  if (!fd) return std::nullopt;
  FileTree tree = hash_file(fd->get(), digest.size_bytes);
  return tree.digest == digest ? std::optional(std::move(tree)) : std::nullopt;
}

}  // namespace

bool any_candidate(const Store& store, const FileJob& job, bool refresh,
                   const std::function<bool(const Candidate&)>& take) {
  if (job.known) return take({job.known->digest, job.learnt ? Reuse::source : Reuse::content});
  for (const auto& algorithm : checksum_algorithms) {
    const std::string& hex = job.checksum.*algorithm.value;
    const auto found = !algorithm.finds || hex.empty() ? std::nullopt : store.alias(algorithm.name, hex);
    // A stronger checksum than the one that found it may be published as well.
    if (found) return take({*found, Reuse::content, has_stronger(job.checksum, algorithm)});
  }
  if (const auto arrival = refresh ? std::nullopt : arrived(store, job))
    return take({arrival->digest, Reuse::source, false, arrival->over_tls, arrival->reach});
  if (!is_stated(job.checksum)) return false;
  return std::ranges::any_of(hints_of(store, job), [&](const Digest& hint) {
    const bool fits = job.size_bytes.value_or(hint.size_bytes) == hint.size_bytes;
    return fits && take({hint, Reuse::content, true});
  });
}

bool at_hand(FetchContext& context, const FileJob& job, bool refresh, FileOutcome& outcome, const Standing* standing) {
  if (context.force) return false;
  return any_candidate(context.store, job, refresh, [&](const Candidate& candidate) {
    const Digest& digest = candidate.digest;
    if (standing != nullptr && !standing->may_have(digest)) return false;
    if (!context.store.present(digest)) return false;
    if (candidate.unproven && !proves(context, digest, job, outcome)) return false;
    if (job.known) {
      outcome.tree = *job.known;
    } else if (digest.size_bytes <= chunk_size_bytes) {
      outcome.tree = {digest, digest.size_bytes == 0 ? std::vector<Sha256>{} : std::vector<Sha256>{digest.hash}};
    } else if (auto tree = tree_of(context.store, digest)) {
      outcome.tree = std::move(*tree);
    } else {
      return false;
    }
    outcome.over_tls = outcome.over_tls || candidate.over_tls;
    outcome.reach = candidate.reach;
    context.events.on(event::BytesReused{digest.size_bytes, candidate.level});
    return true;
  });
}

}  // namespace sabath
