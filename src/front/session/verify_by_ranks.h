// A verification by all ranks of an MPI job: each byte is read by one of them.
#pragma once

#include "sabath/comm.h"
#include "store/verify/verify.h"

namespace sabath {

// Collective; `store` is one directory for all ranks, opened by each, and `manifest` the same tree or none. As
// verify(), with `how.part` and `how.parts` set here. The report is that of all ranks, on rank 0; elsewhere it is this
// rank's. Throws the same Error on all ranks: {usage} if a rank's node has another directory under the store's name,
// for no rank would read what only that directory holds.
[[nodiscard]] VerifyReport verify_by_ranks(Comm& comm, Store& store, const Manifest* manifest, VerifyOptions how);

}  // namespace sabath
