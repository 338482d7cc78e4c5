// Launchers put the rank in front of lines: "[1,3]<stdout>:" (Open MPI, Horovod), "  3: " (srun -l, flux -l),
// "[3] " (MPICH and Intel MPI), "[rank3]:" and "[default3]:" (torchrun). Pure; any thread; no throw.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sabath {

struct RankPrefix {
  int rank = 0;
  std::size_t length = 0;  // with the blank behind it
};
[[nodiscard]] std::optional<RankPrefix> try_rank_prefix(std::string_view line) noexcept;

}  // namespace sabath
