// Which rank fetches what: pure, tested from tables.
//
// A large file of known chunks is given to all ranks, which share its partial. All else is dealt by bytes, so that no
// rank opens what another has. Rank 0 keeps the work that only it can do: documents that it reads, archives that it
// unpacks.
#pragma once

#include <cstddef>
#include <vector>

#include "fetch/decide/job.h"

namespace sabath {

struct Deal {
  std::vector<std::size_t> shared;                // places in the list of jobs
  std::vector<std::vector<std::size_t>> of_rank;  // of each rank: the places of what is its own, in order
};

// `able`: of each rank, whether it may be given anything; rank 0 may.
[[nodiscard]] Deal deal_jobs(const std::vector<FileJob>& jobs, const std::vector<bool>& able);

[[nodiscard]] bool for_rank_0_alone(const FileJob& job);

}  // namespace sabath
