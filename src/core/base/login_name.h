// Names of login nodes and of programs there, as they may stand in the argv of ssh, which gives its last words to a
// shell of the other side. Pure; any thread.
#pragma once

#include <string_view>

namespace sabath {

[[nodiscard]] bool is_login_name(std::string_view text);     // HOST, USER@HOST
[[nodiscard]] bool is_login_program(std::string_view text);  // no word of a shell but ~/ at its front

}  // namespace sabath
