// How much a job may ask for: far more than any machine has, and far from where numbers overflow. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "jobs/job_plan.h"

namespace sabath {

inline constexpr std::uint64_t job_nodes_max = 1U << 20U, job_ranks_max = 1U << 20U;
inline constexpr std::uint64_t job_cores_max = 1U << 16U;     // of a rank, and of all ranks of a node
inline constexpr std::uint64_t job_gpus_max = 1U << 10U;      // of a node
inline constexpr std::uint64_t job_memory_max = 1ULL << 50U;  // of a node, in bytes
inline constexpr std::int64_t job_seconds_max = 366LL * 86400;

// Throws Error{usage} for a plan that asks for nothing, or for more.
void refuse_out_of_bounds(const JobPlan& plan);

// What a recipe's metadata ask for ("2 nodes ..."), for people: a stranger may have written it. Empty: nothing.
[[nodiscard]] std::string job_wishes(const std::map<std::string, std::string>& metadata);

}  // namespace sabath
