// The library has this, and no HDF5: the program `sabath` reads such files for it. Weak, so that a program may link
// HDF5 as well.
#include "hdf5/library.h"

namespace sabath {

[[gnu::weak]] std::string hdf5_library() { return "as the program sabath has it"; }

}  // namespace sabath
