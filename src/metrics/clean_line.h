// What a terminal would show of a line: without colours and other escape sequences, and what was printed last where
// backspaces took something back. Pure; any thread; no throw but bad_alloc.
#pragma once

#include <string>
#include <string_view>

namespace sabath {

// The line itself if there is nothing to clean, else `scratch` with the rest.
[[nodiscard]] std::string_view clean_line(std::string_view line, std::string& scratch);

}  // namespace sabath
