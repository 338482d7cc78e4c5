// Which of two versions of an asset is the later one. Pure; any thread.
#pragma once

#include <string_view>

#include "sabath/recipe.h"

namespace sabath {

// In order of their parts: numbers by value, other words by bytes; "1.10" is later than "1.9", "2" later than "2rc1".
[[nodiscard]] bool is_later_version(std::string_view a, std::string_view b);

// By their versions, if both have one and these differ; else by when they were published.
[[nodiscard]] bool is_later(const Recipe& a, const Recipe& b);

}  // namespace sabath
