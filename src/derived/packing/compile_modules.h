// The program that compiles the modules of a packed tree, as the tree's own interpreter runs it. Its .pyc hold whatever
// time the files have (PEP 552, unchecked), name no place, and have the same bytes whatever else the interpreter holds.
#pragma once

#include <string_view>

namespace sabath {

// Arguments: the tree, the folder in it. What cannot be compiled is passed over.
[[nodiscard]] std::string_view compile_program();

}  // namespace sabath
