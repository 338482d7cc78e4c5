// Content that is in the store already: by its pinned digest, by a published checksum computed here before, or because
// its source gave it to a fetch before. Content known only by the word of other users is hashed first.
#pragma once

#include <functional>

#include "fetch/decide/job.h"
#include "fetch/hosts/context.h"
#include "store/space/footprint.h"

namespace sabath {

// Content that may be what a job wants, by what the store has noted.
struct Candidate {
  Digest digest;
  Reuse level = Reuse::content;
  bool unproven = false;         // its bytes are read before it is believed
  bool over_tls = false;         // it came so
  std::optional<Reach> reach{};  // from so near
};

// Calls `take` with one candidate after the other, in the order in which they are believed, until it says true; false:
// it did not. Only notes are looked at: whether the content is here is for the caller to see. `refresh`: what the
// source gave before says nothing.
[[nodiscard]] bool any_candidate(const Store& store, const FileJob& job, bool refresh,
                                 const std::function<bool(const Candidate&)>& take);

// `standing`, if many are asked for: what it has not is not looked for. Fills in the outcome and says what is reused.
[[nodiscard]] bool at_hand(FetchContext& context, const FileJob& job, bool refresh, FileOutcome& outcome,
                           const Standing* standing = nullptr);

}  // namespace sabath
