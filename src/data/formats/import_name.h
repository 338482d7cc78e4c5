// What Python can import: a module is called as a directory or a file can be, "site-packages". Texts of people, whose
// letters happen to be an import, are told apart. Any thread.
#pragma once

#include <string_view>

namespace sabath {

// Letters, digits, dots, as in a program. A module whose name is none counts only with a name in it that is one.
[[nodiscard]] bool is_program_name(std::string_view text);
// False: no module can be called so, or it closes a bracket that it does not open: "(in inches)" is no INST.
[[nodiscard]] bool may_be_module(std::string_view text);
// It has blanks, and counts only if it is called: "chapter 1" begins with an import, too.
[[nodiscard]] bool reads_as_words(std::string_view module);

}  // namespace sabath
