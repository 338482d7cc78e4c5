// Names of sources: the hash of what is asked, so that nothing is asked twice. Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "fetch/job.h"
#include "sabath/digest.h"
#include "sabath/recipe.h"
#include "sabath/session.h"

namespace sabath {

// The bytes of one file: its first URL, size and checksums, and where it begins in which version of it. Names partials
// of unknown content.
[[nodiscard]] Sha256 source_key(const FileJob& job);
// A fragment: first URL, type, limit, size, checksums, where it stands, and which part of it was asked for. Names what
// was learnt of it.
[[nodiscard]] Sha256 source_key(const Fragment& fragment, const Selection& selection = {});
[[nodiscard]] Sha256 source_key(const GitSource& git);
// The whole asset: its fragments and its git source; or a part of it, which under another pin is another thing.
[[nodiscard]] Sha256 source_key(const Recipe& recipe, const Selection& selection = {},
                                const std::optional<Sha256>& pin = std::nullopt);
// The whole asset by its pin. Nobody looks it up to learn a root: it names what is kept, and where it comes from.
[[nodiscard]] Sha256 pinned_key(const Recipe& recipe, const Sha256& root);
// What a bundle brought, and nobody has named.
[[nodiscard]] Sha256 bundle_key(const Sha256& root);
[[nodiscard]] std::string source_of(const Recipe& recipe);  // its first, for people; may be empty
[[nodiscard]] Sha256 tar_index_key(const Url& source);

}  // namespace sabath
