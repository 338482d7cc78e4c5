// Lines of .pth files, and modules, that each start of an interpreter runs. Pure; any thread.
#pragma once

#include <string_view>

namespace sabath {

// A whole line as setuptools writes it: of distutils-precedence.pth, or of a namespace package's NAME-nspkg.pth. It
// names no place.
[[nodiscard]] bool is_known_start_code(std::string_view file, std::string_view line);
// An entry beside the packages that the interpreter imports by itself: sitecustomize, usercustomize, in any form.
[[nodiscard]] bool is_start_module(std::string_view name);

}  // namespace sabath
