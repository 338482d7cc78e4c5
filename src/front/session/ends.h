// When the sources of a plan stop answering: signed URLs, tokens and sessions that say when they end. Pure; any thread.
#pragma once

#include <optional>
#include <vector>

#include "base/expiry.h"
#include "fetch/plan.h"
#include "sabath/credentials.h"

namespace sabath {

// Each source's `expires_in_s` and `expires_by`: of all that ends, what ends first.
void note_ends(AssetPlan& plan, const std::vector<Credential>& credentials, WallTime now);

// Why the asset cannot be fetched: something is to be read from a fragment none of whose mirrors answers any more.
[[nodiscard]] std::optional<Failure> refusal_of_ended(const PlannedAsset& asset);

}  // namespace sabath
