#ifdef SABATH_WITH_MPI
#include "sabath/mpi.h"

#include "mpi/mpi_comm.h"
#include "sabath/error.h"

namespace sabath {

std::unique_ptr<Comm> make_comm(MPI_Comm of) {
  MPI_Comm own = MPI_COMM_NULL;
  if (MPI_Comm_dup(of, &own) != MPI_SUCCESS)
    throw Error(FailureKind::nodes, "MPI cannot duplicate the communicator", "MPI must be started, and not yet ended");
  return std::make_unique<MpiComm>(own);
}

}  // namespace sabath
#endif
