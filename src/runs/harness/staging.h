// The seconds that staging took, for a run's record, from the output of `sabath stage --json`. One thread. Throws
// Error{usage} if there is no such file, Error{invalid} if it is no such record, or is of other data.
#pragma once

#include <filesystem>

#include "run/run_asset.h"

namespace sabath {

[[nodiscard]] double staging_seconds(const std::filesystem::path& file, const RunAsset& dataset);

}  // namespace sabath
