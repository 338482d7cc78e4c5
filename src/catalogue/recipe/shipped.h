// Where the recipes of an installation stand. Any thread.
#pragma once

#include <filesystem>

namespace sabath {

// Those that came with this program: PREFIX/share/sabath/shipped beside PREFIX/bin/sabath, or SOURCE/recipes of
// SOURCE/build/NAME/bin/sabath. Empty: there are none.
[[nodiscard]] std::filesystem::path shipped_recipes(const std::filesystem::path& program);

}  // namespace sabath
