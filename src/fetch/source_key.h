// Names of sources: the hash of what is asked, so that nothing is asked twice. Pure; any thread.
#pragma once

#include "fetch/job.h"
#include "sabath/digest.h"
#include "sabath/recipe.h"

namespace sabath {

// The bytes of one file: its first URL, size and checksums. Names partials of unknown content.
[[nodiscard]] Sha256 source_key(const FileJob& job);
// A fragment: first URL, type, limit, size, checksums, and where it stands. Names what was learnt of it.
[[nodiscard]] Sha256 source_key(const Fragment& fragment);
[[nodiscard]] Sha256 source_key(const GitSource& git);
// The whole asset: its fragments and its git source.
[[nodiscard]] Sha256 source_key(const Recipe& recipe);

}  // namespace sabath
