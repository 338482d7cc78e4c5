// For programs that are linked with an MPI of their own: the plug-in's table is linked, too (libsabath_mpi.a).
#include <cstring>

#include "mpi/mpi_comm.h"
#include "sabath/error.h"
#include "sabath/mpi.h"

extern "C" const sabath_mpi_calls sabath_mpi_table;

namespace sabath {

std::unique_ptr<Comm> make_comm(MPI_Comm of) {
  MPI_Comm own = MPI_COMM_NULL;
  if (MPI_Comm_dup(of, &own) != MPI_SUCCESS)
    throw Error(FailureKind::nodes, "MPI cannot duplicate the communicator", "MPI must be started, and not yet ended");
  sabath_mpi_comm boxed{};
  std::memcpy(&boxed.handle, &own, sizeof own);
  return std::make_unique<MpiComm>(sabath_mpi_table, boxed);
}

}  // namespace sabath
