#include "cli/version.h"

#include "hdf5/library.h"
#include "mpi/library.h"

namespace sabath::cli {

std::vector<std::pair<std::string, std::string>> library_versions() {
  return {{"MPI", mpi_library().value_or("none (built without MPI)")},
          {"HDF5", hdf5_library()},
          {"built with", SABATH_BUILT_WITH},
          {"compiler", SABATH_COMPILER}};
}

}  // namespace sabath::cli
