// By which variables a launcher is known.
#include <gtest/gtest.h>

#include <map>

#include "mpi/session.h"

namespace sabath {
namespace {

struct Case {
  const char* what;
  std::map<std::string, std::string> variables;
  unsigned ranks;
};

TEST(Launcher, IsKnownByItsVariables) {
  const Case cases[] = {
      {"a login shell", {}, 1},
      {"Open MPI's mpirun", {{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}}, 4},
      {"one rank", {{"OMPI_COMM_WORLD_SIZE", "1"}}, 1},
      {"MPICH's mpiexec", {{"PMI_RANK", "0"}, {"PMI_SIZE", "7"}}, 7},
      {"srun --mpi=pmix", {{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "x"}, {"SLURM_STEP_NUM_TASKS", "16"}}, 16},
      {"PMIx that says no size", {{"PMIX_RANK", "0"}}, 1},
      {"a batch script", {{"SLURM_NTASKS", "64"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}, 1},
      {"srun without MPI", {{"SLURM_PROCID", "2"}, {"SLURM_STEP_NUM_TASKS", "4"}}, 1},
      {"nonsense", {{"OMPI_COMM_WORLD_SIZE", "many"}}, 1},
  };
  for (const auto& [what, variables, ranks] : cases) {
    const auto lookup = [&known = variables](const std::string& name) -> std::optional<std::string> {
      const auto found = known.find(name);
      return found == known.end() ? std::nullopt : std::optional(found->second);
    };
    EXPECT_EQ(launched_ranks(lookup), ranks) << what;
  }
}

}  // namespace
}  // namespace sabath
