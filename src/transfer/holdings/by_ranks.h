// A fetch by all ranks of an MPI job into one store.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "fetch/ranks/team.h"
#include "sabath/comm.h"
#include "sabath/session_settings.h"
#include "store/store.h"

namespace sabath {

// Collective. Opens (on rank 0 also makes) the store, the same directory for all ranks; `directory` is rank 0's.
// Throws on all ranks the same Error{usage} if a node sees another directory under this name.
[[nodiscard]] std::unique_ptr<Store> open_shared_store(Comm& comm, const std::filesystem::path& directory);

// Collective. As open_shared_store(), but a rank whose node does not see rank 0's store gets nullptr; and all do, where
// there is no store and `create` is false.
[[nodiscard]] std::unique_ptr<Store> try_open_shared_store(Comm& comm, const std::filesystem::path& directory,
                                                           bool create = true);

// Collective. Rank 0 runs `flow` and the others work for it, in `store`. The record, or the Error, of the flow is that
// of all ranks; but the assets are on rank 0 alone.
[[nodiscard]] FetchRecord fetch_by_ranks(Comm& comm, Store& store, const FetcherSet& fetchers,
                                         const SessionSettings& settings, const FetchRequest& request,
                                         const std::stop_token& stop, const std::function<FetchRecord(Team&)>& flow);

// Collective. As fetch_by_ranks(), for what rank 0 does alone.
[[nodiscard]] FetchRecord on_rank_0(Comm& comm, const std::function<FetchRecord()>& flow);

}  // namespace sabath
