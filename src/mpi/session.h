// MPI runs as long as the object lives. Main thread; once a process. Lanes and other threads make no MPI call.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sabath/comm.h"

namespace sabath {

class MpiSession {
 public:
  // Collective. Starts MPI with MPI_THREAD_FUNNELED; nullptr in a build without MPI. Throws Error{nodes} if the library
  // cannot be started or its threads are not enough.
  [[nodiscard]] static std::unique_ptr<MpiSession> start();
  virtual ~MpiSession() = default;  // Collective. Ends MPI
  [[nodiscard]] virtual Comm& comm() = 0;
};

// How many ranks a launcher (mpirun, srun --mpi=pmix, mpiexec) says it has started, by the variables that it sets for
// each rank; 1: no launcher, or one that starts no MPI. Slurm's own variables alone say nothing: a batch script has
// them, too. Pure.
using Variable = std::function<std::optional<std::string>(const std::string& name)>;
[[nodiscard]] unsigned launched_ranks(const Variable& variable);

}  // namespace sabath
