// For the library, which has no HDF5: the program `sabath` reads HDF5 files for it. Weak, so that a program with HDF5
// may define the function itself.
#include "hdf5/library.h"

namespace sabath {

[[gnu::weak]] std::string hdf5_library() { return "as the program sabath has it"; }

}  // namespace sabath
