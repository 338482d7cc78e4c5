#include "fetch/at_hand.h"

#include <fcntl.h>

#include <array>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "fetch/source_key.h"

namespace sabath {
namespace {

struct AtHand {
  Digest digest;
  Reuse level = Reuse::content;
  Checksums unproved;  // stronger than what found it, and published as well
};

Checksums stronger(const Checksums& published, const ChecksumAlgorithm& than) {
  Checksums sums;
  for (const auto& algorithm : checksum_algorithms)
    if (algorithm.digits > than.digits) sums.*algorithm.value = published.*algorithm.value;
  return sums;
}

std::optional<AtHand> look_up(const Store& store, const FileJob& job, bool refresh, FileOutcome& outcome) {
  if (job.known) return AtHand{job.known->digest, job.learnt ? Reuse::source : Reuse::content, {}};
  for (const auto& algorithm : checksum_algorithms) {
    const std::string& hex = job.checksum.*algorithm.value;
    if (!algorithm.finds || hex.empty()) continue;
    if (const auto digest = store.alias(algorithm.name, hex))
      return AtHand{*digest, Reuse::content, stronger(job.checksum, algorithm)};
  }
  if (refresh) return std::nullopt;
  const auto arrival = store.arrival(source_key(job));
  if (!arrival) return std::nullopt;
  outcome.over_tls = arrival->over_tls;
  return AtHand{arrival->digest, Reuse::source, {}};
}

// False: it is fetched, and whoever serves it is told of as wrong.
bool proves(const FetchContext& context, const Digest& digest, const Checksums& published) {
  if (published.empty()) return true;
  const auto content = context.store.open_content(digest);
  if (!content) return false;
  ChecksumSet sums(published);
  std::vector<std::byte> buffer(1 << 20);
  std::uint64_t offset = 0;
  while (const std::size_t n = content->read(offset, buffer)) {
    if (context.stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
    sums.update(std::span(buffer).first(n));
    offset += n;
  }
  try {
    static_cast<void>(sums.finish_and_compare(""));
    return true;
  } catch (const Error&) {
    return false;
  }
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

bool at_hand(FetchContext& context, const FileJob& job, bool refresh, FileOutcome& outcome, const Standing* standing) {
  if (context.force) return false;
  const auto found = look_up(context.store, job, refresh, outcome);
  if (!found || (standing != nullptr && !standing->may_have(found->digest))) return false;
  if (!context.store.present(found->digest) || !proves(context, found->digest, found->unproved)) return false;
  const Digest& digest = found->digest;
  if (job.known) {
    outcome.tree = *job.known;
  } else if (digest.size_bytes <= chunk_size_bytes) {
    outcome.tree = {digest, digest.size_bytes == 0 ? std::vector<Sha256>{} : std::vector<Sha256>{digest.hash}};
  } else if (auto tree = tree_of(context.store, digest)) {
    outcome.tree = std::move(*tree);
  } else {
    return false;
  }
  context.events.on(event::BytesReused{digest.size_bytes, found->level});
  return true;
}

}  // namespace sabath
