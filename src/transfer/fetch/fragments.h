// The fragments of one asset, fetched together: files and lists by the lanes, archives unpacked as they arrive, then
// what the lists name. How each comes is decided in fragment_choice.h and done by its kind of part: file_part.h,
// list_part.h, archive_part.h, members_part.h. One thread; the lanes work inside.
#pragma once

#include <string>

#include "fetch/fragment_scope.h"
#include "sabath/verbs/fetch.h"

namespace sabath {

// Says what another user of the store has learnt of this source, and how to believe it; empty: no user has.
[[nodiscard]] std::string others_hint(const Store& store, const Sha256& key);

struct FetchedFragments {
  std::vector<FileFailure> failures;  // of single files
  std::uint64_t files_done = 0;
  std::string trusted_by;  // the weakest of all fragments; empty: nothing had to be believed
  std::vector<ResolvedSource> resolved;
};

// Adds the entries of all fragments that were asked for to `asset`. `expected`: the pinned or learnt manifest, whose
// digests every file must have; nullptr: they are learnt. Where the request selects a part it may name more than is
// fetched. Local copies are taken out of `request`.
[[nodiscard]] FetchedFragments fetch_fragments(FetchContext& context, const Recipe& recipe, const Manifest* expected,
                                               AssetRequest& request, ManifestBuilder& asset);

}  // namespace sabath
