// Patterns over paths: `*`, `?` and `[...]` stay inside one component, `**` stands for any number of them.
// Pure; any thread.
#pragma once

#include <string_view>

namespace sabath {

// True if the whole path matches.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view path);

// True if something below this directory may match. "": the top.
[[nodiscard]] bool glob_may_match_below(std::string_view pattern, std::string_view directory);

// True if the text is a pattern and not the name of one thing.
[[nodiscard]] bool is_glob(std::string_view text) noexcept;

}  // namespace sabath
