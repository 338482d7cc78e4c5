// What both languages of modulefiles have in common. Included by lua_module.cc and tcl_module.cc.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "software/module_text.h"

namespace sabath {

inline constexpr std::size_t module_values_max = 256;  // of each kind, in one modulefile

// A name or a version of a module, or a directory: no control characters, no blanks, not too long.
[[nodiscard]] bool is_plain_value(std::string_view value) noexcept;
void add_module_value(std::vector<std::string>& list, std::string_view value);  // once, and if it is plain
// "Keywords: cuda, ucx" of a description; other descriptions say nothing.
void add_keywords(ModuleText& into, std::string_view description);
// Those of a value that changes MODULEPATH; one that is not absolute counts as unread.
void add_directories(ModuleText& into, std::string_view value);
// Texts outside of what was understood: how often this word is in it. Of a longer name it is no word.
[[nodiscard]] std::size_t count_words(std::string_view text, std::string_view word);

}  // namespace sabath
