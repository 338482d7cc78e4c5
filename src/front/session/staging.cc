#include "session/staging.h"

#include <array>

#include "base/file.h"
#include "fetch/known_tree.h"
#include "store/disk/layout.h"

namespace sabath {

namespace {
constexpr std::uint64_t manifest_size_max = std::uint64_t{4} << 30;
}  // namespace

std::uint64_t told_by_rank_0(Comm& comm, std::uint64_t mine) {
  std::array<std::uint64_t, 1> said{comm.rank() == 0 ? mine : 0};
  comm.all_reduce(said, Reduction::maximum);
  return said[0];
}

bool try_know(const Store& store, const Recipe& recipe, const Fetched& fetched, Lease& lease, StageJob& job) {
  const auto root = fetched.root ? fetched.root : known_root(store, recipe, std::nullopt);
  if (!root) return false;
  lease.add(*root);
  auto manifest = store.manifest(*root);
  if (!manifest) return false;
  job.bytes = try_read_text(Layout(store.directory()).manifest(*root), manifest_size_max).value_or("");
  if (job.bytes.empty()) {  // it stands in another store, or a collection has it for a moment
    set_manifest(job, std::move(*manifest));
  } else {
    job.manifest = std::move(manifest);
  }
  return true;
}

void set_manifest(StageJob& job, Manifest manifest) {
  ManifestBuilder builder;
  builder.add_all(manifest, nullptr);
  job.bytes = builder.bytes();
  job.manifest = std::move(manifest);
}

Fetched fetch_for_staging(const SessionSettings& settings, Comm* ranks, const Recipe* recipe, EventSink& events,
                          const std::stop_token& stop) {
  FetchRequest wanted;
  wanted.view = false;  // each node expands packs for itself
  if (recipe != nullptr) wanted.add(recipe->kind, recipe->name);
  const FetchRecord record = Session(settings, ranks).fetch(wanted, events, stop);
  Fetched fetched;
  for (const auto& asset : record.assets) {
    if (!asset.failures.empty()) throw Error(asset.failures.front().failure);
    fetched.bytes += asset.fetched_bytes;
    fetched.root = Sha256::try_parse(asset.manifest);
  }
  return fetched;
}

void add_moved(StagedAsset& asset, const StagedAsset& before) {
  asset.bytes_from_shared += before.bytes_from_shared;
  asset.bytes_from_origin += before.bytes_from_origin;
  asset.bytes_from_peers += before.bytes_from_peers;
  asset.bytes_sent += before.bytes_sent;
  asset.seconds += before.seconds;
}

}  // namespace sabath
