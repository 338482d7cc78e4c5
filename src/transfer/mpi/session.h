// MPI runs as long as the object lives. Main thread; once a process. Lanes and other threads make no MPI call.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sabath/comm.h"

namespace sabath {

using EnvironmentVariable = std::function<std::optional<std::string>(const std::string& name)>;  // of the environment

// What an MPI and its plug-in are searched by.
struct MpiPlaces {
  EnvironmentVariable variable;   // SABATH_LIBMPI, and those of launchers
  std::filesystem::path data;     // the user's data directory, with `sabath/mpi` in it; empty: not known
  std::filesystem::path program;  // this one; plug-ins lie beside it
};

class MpiSession {
 public:
  // Collective. Starts MPI with MPI_THREAD_FUNNELED; nullptr in a build without MPI. Throws Error{nodes} if there is no
  // MPI that can be used, if it cannot be started, or if its threads are not enough.
  [[nodiscard]] static std::unique_ptr<MpiSession> start(const MpiPlaces& places);
  virtual ~MpiSession() = default;  // Collective. Ends MPI
  [[nodiscard]] virtual Comm& comm() = 0;
  [[nodiscard]] virtual const std::string& library() const = 0;  // "Open MPI v4.1.4"
};

// How many ranks a launcher (mpirun, srun --mpi=pmix, mpiexec) says it has started, by the variables that it sets for
// each rank; 1: no launcher, or one that starts no MPI. Slurm's own variables alone say nothing: a batch script has
// them, too. Pure.
[[nodiscard]] unsigned launched_ranks(const EnvironmentVariable& variable);

}  // namespace sabath
