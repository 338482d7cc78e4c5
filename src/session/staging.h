// What staging an asset takes, however the shared store is used.
#pragma once

#include <cstdint>
#include <stop_token>

#include "comm/comm.h"
#include "sabath/session.h"
#include "stage/stage.h"

namespace sabath {

// Collective. Rank 0's, on all ranks.
[[nodiscard]] std::uint64_t told_by_rank_0(Comm& comm, std::uint64_t mine);

// Puts the manifest that this store knows of the asset into `job`. False: it knows none.
[[nodiscard]] bool try_know(const Store& store, const Recipe& recipe, StageJob& job);

// Collective with `ranks`: into one store of all of them; `recipe` is rank 0's. The payload on the wire. Throws what
// failed.
[[nodiscard]] std::uint64_t fetch_for_staging(const SessionSettings& settings, Comm* ranks, const Recipe* recipe,
                                              EventSink& events, const std::stop_token& stop);

// What moved in a first try counts in the second's record.
void add_moved(StagedAsset& asset, const StagedAsset& before);

}  // namespace sabath
