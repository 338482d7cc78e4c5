// Functions for staging an asset, the same for each use of the shared store.
#pragma once

#include <cstdint>
#include <stop_token>

#include "sabath/comm.h"
#include "sabath/session.h"
#include "stage/stage.h"

namespace sabath {

// Collective. Rank 0's, on all ranks.
[[nodiscard]] std::uint64_t told_by_rank_0(Comm& comm, std::uint64_t mine);

// The result of a fetch for staging. Its root is known even where a collection has taken its name away again.
struct Fetched {
  std::uint64_t bytes = 0;     // payload on the wire
  std::optional<Sha256> root;  // rank 0's
};

// Puts the manifest of what was fetched, or that this store knows of the asset, into `job`, and makes it the lease's.
// False: it knows none.
[[nodiscard]] bool try_know(const Store& store, const Recipe& recipe, const Fetched& fetched, Lease& lease,
                            StageJob& job);
void set_manifest(StageJob& job, Manifest manifest);  // from elsewhere

// Collective with `ranks`: into one store of all of them; `recipe` is rank 0's. Throws what failed.
[[nodiscard]] Fetched fetch_for_staging(const SessionSettings& settings, Comm* ranks, const Recipe* recipe,
                                        EventSink& events, const std::stop_token& stop);

// Adds the bytes that moved in a first try to the second's record.
void add_moved(StagedAsset& asset, const StagedAsset& before);

}  // namespace sabath
