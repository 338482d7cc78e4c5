// Parts of the program that lie in shared objects of their own, because what they are linked with takes longer to load
// than most commands take. A plugin is opened at the first call of one of its functions and stays open to the end. What
// it calls of the rest of us it finds in the program, so that nothing of ours is there twice.
// Any thread. Only the program has them: libsabath and the tests are linked with the folders themselves.
#pragma once

#include "plugin/tables.h"

namespace sabath {

// Throw Error{internal} if the plugin is not beside the program, is of another build, or misses a library.
[[nodiscard]] const IoTable& io_plugin();
[[nodiscard]] const MpiTable& mpi_plugin();

}  // namespace sabath
