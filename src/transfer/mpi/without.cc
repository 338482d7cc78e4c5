// Libraries, and a program that is built without MPI, link this instead of library.cc: they have no plug-ins, and look
// for no MPI.
#include "mpi/library.h"

namespace sabath {

MpiSearch find_mpi(const MpiPlaces& /*places*/, bool /*whole*/) {
  MpiSearch search;
  search.built = false;
  return search;
}

}  // namespace sabath
