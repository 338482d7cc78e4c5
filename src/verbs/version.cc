#include "verbs/version.h"

#include "hdf5/library.h"
#include "mpi/library.h"

namespace sabath {
namespace {

// A plugin of this program, or a library that it needs, may not be there.
Library look(const char* name, std::string (*version)()) {
  try {
    return {name, version(), std::nullopt};
  } catch (const Error& error) {
    return {name, "", error.failure()};
  }
}

std::string mpi_or_none() { return mpi_library().value_or("none (built without MPI)"); }

}  // namespace

std::vector<Library> libraries() {
  return {look("MPI", mpi_or_none),
          look("HDF5", hdf5_library),
          {"built with", SABATH_BUILT_WITH, std::nullopt},
          {"compiler", SABATH_COMPILER, std::nullopt}};
}

}  // namespace sabath
