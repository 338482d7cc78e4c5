// Who gets which file of an asset that is dealt: the plan that `stage` publishes in shard mode (docs/staging.md), for
// programs that deal their samples alike. Pure; any thread. Throws Error{usage}.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sabath {

// The share of each path, in the order of `paths`. It follows from the paths, the seed and the number of shares alone.
[[nodiscard]] std::vector<std::uint32_t> deal(const std::vector<std::string>& paths, std::uint64_t seed,
                                              std::uint32_t shares);

}  // namespace sabath
