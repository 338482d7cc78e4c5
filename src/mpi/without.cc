// Libraries link this instead of src/mpi, for they are not asked for ranks: a library that others link must not bring
// an MPI along. Weak, so that a program may link src/mpi as well.
#include "mpi/library.h"

namespace sabath {

[[gnu::weak]] std::optional<std::string> mpi_library() { return std::nullopt; }

}  // namespace sabath
