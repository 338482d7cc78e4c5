// Ranks of an MPI job as the library takes them. In a library of its own (CMake target sabath::mpi, libsabath_mpi.a):
// all else of SABATH never sees mpi.h.
#pragma once

#include <mpi.h>

#include <memory>

#include "sabath/comm.h"

namespace sabath {

// Collective over `of`, whose duplicate it works with: it meets no messages of others. MPI has been started with
// MPI_THREAD_FUNNELED at least, and ends after the result. Main thread. Throws Error{nodes}.
[[nodiscard]] std::unique_ptr<Comm> make_comm(MPI_Comm of);

}  // namespace sabath
