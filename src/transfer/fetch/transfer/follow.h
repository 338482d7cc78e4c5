// Several processes that want the same content, whose digests are not known yet: one leads, and the others wait until
// it publishes the content, or go on where it ended. docs/store.md, "Leading and following".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "fetch/decide/job.h"
#include "fetch/hosts/context.h"
#include "store/partials/leader_watch.h"

namespace sabath {

// The watch to look at before the job is begun. nullptr: each process reads alone, because the file is fetched anew, is
// unpacked as it arrives, or is a document that is read before it is believed; or its chunks are known and shared.
[[nodiscard]] std::unique_ptr<LeaderWatch> watch_for(const FetchContext& context, const FileJob& job);

// Whether content of this length has a leader: all that has several chunks, and the only file of a fetch from a
// length on in which others may come. Of many small files each process reads what it needs.
[[nodiscard]] bool has_leader(const FetchContext& context, std::uint64_t size_bytes);

// Takes over what an earlier process left of a partial that was just opened, and what silent ones have (`watch` may be
// nullptr), if it is of one version of one source; calls `tee` with the bytes of the front in order. Returns that
// version.
SourceVersion adopt_left(OwnPartial& partial, LeaderWatch* watch, bool provable,
                         const std::function<void(std::span<const std::byte>)>& tee);

}  // namespace sabath
