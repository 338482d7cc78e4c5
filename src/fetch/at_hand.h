// Content that is in the store already: by its pinned digest, by a published checksum computed here before, or because
// its source gave it to a fetch before. What only others say is hashed first.
#pragma once

#include <set>

#include "fetch/context.h"
#include "fetch/job.h"
#include "store/footprint.h"

namespace sabath {

// `refresh`: what the source gave before says nothing. `standing`, if many are asked for: what it has not is not looked
// for. Fills in the outcome and says what is reused.
[[nodiscard]] bool at_hand(FetchContext& context, const FileJob& job, bool refresh, FileOutcome& outcome,
                           const Standing* standing = nullptr);
// Content that may be the job's, by anybody's word: to be read before it is believed.
[[nodiscard]] std::set<Digest> hints_of(const Store& store, const FileJob& job);
// What one of the job's mirrors gave to a fetch before: where it states no checksum, to any recipe.
[[nodiscard]] std::optional<Arrival> arrived(const Store& store, const FileJob& job);

}  // namespace sabath
