#include <charconv>
#include <system_error>

#include "mpi/session.h"

namespace sabath {
namespace {

std::optional<unsigned> number(const EnvironmentVariable& variable, const std::string& name) {
  const auto text = variable(name);
  unsigned value = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

unsigned launched_ranks(const EnvironmentVariable& variable) {
  if (const auto size = number(variable, "OMPI_COMM_WORLD_SIZE")) return *size;  // Open MPI's mpirun
  if (!number(variable, "PMI_RANK") && !number(variable, "PMIX_RANK")) return 1;
  if (const auto size = number(variable, "PMI_SIZE")) return *size;  // MPICH's mpiexec, Cray's, srun --mpi=pmi2
  return number(variable, "SLURM_STEP_NUM_TASKS").value_or(1);       // srun --mpi=pmix
}

}  // namespace sabath
