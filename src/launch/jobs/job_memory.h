// How much memory a job asks for, as users of batch systems write it. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sabath {

inline constexpr const char* job_memory_hint =
    "give it with its unit: 64G or 64GiB (2^30 bytes each, as in sbatch), or 64GB (10^9)";

// "64G", "64GiB", "64GB". A bare number has one meaning for each scheduler, so it is none here: nullopt.
[[nodiscard]] std::optional<std::uint64_t> try_job_memory(std::string_view text);

}  // namespace sabath
