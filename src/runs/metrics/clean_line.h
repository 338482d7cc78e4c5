// A line as a terminal would show it: without colours and other escape sequences; of a line with backspaces, the text
// behind the last of them. Pure; any thread; no throw but bad_alloc.
#pragma once

#include <string>
#include <string_view>

namespace sabath {

// The line itself if there is nothing to clean, else `scratch` with the rest.
[[nodiscard]] std::string_view clean_line(std::string_view line, std::string& scratch);

}  // namespace sabath
