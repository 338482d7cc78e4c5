#include "hdf5/library.h"

#include <fmt/format.h>
#include <hdf5.h>

#include "sabath/error.h"

namespace sabath {

std::string hdf5_library() {
  unsigned major = 0, minor = 0, release = 0;
  if (H5get_libversion(&major, &minor, &release) < 0) {
    throw Error(FailureKind::internal, "cannot ask HDF5 for its version");
  }
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace sabath
