// The program that compiles the modules of a packed tree, as the tree's own interpreter runs it. Its .pyc stay
// valid when files get a new time (PEP 552, unchecked), name no place, and are the same bytes in each process.
#pragma once

#include <string_view>

namespace sabath {

// Arguments: the tree, a file that lists modules below it, each ended by a zero byte. What cannot be compiled is passed
// over. It works in as many processes as it has cores.
[[nodiscard]] std::string_view compile_program();

}  // namespace sabath
