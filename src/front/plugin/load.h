// Parts of the program that lie in shared objects of their own, because their libraries take longer to load than most
// commands take. A plugin is opened at the first call of one of its functions and stays open to the end. It calls our
// other functions in the program itself, so that none of them is there twice.
// Any thread. Only the program has plugins: libsabath and the tests are linked with the folders themselves.
#pragma once

#include "plugin/tables.h"

namespace sabath {

// Throw Error{internal} if the plugin is not beside the program, is of another build, or misses a library.
[[nodiscard]] const IoTable& io_plugin();

}  // namespace sabath
