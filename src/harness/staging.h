// What staging took, for a run's record: from what `sabath stage --json` has printed. One thread. Throws Error{usage}
// if there is no such file, Error{invalid} if it is no such record, or of other data.
#pragma once

#include <filesystem>

#include "run/run_asset.h"

namespace sabath {

[[nodiscard]] double staging_seconds(const std::filesystem::path& file, const RunAsset& dataset);

}  // namespace sabath
