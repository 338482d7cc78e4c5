// A series as a line of small bars, for a terminal. Pure; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace sabath {

// At most `width` bars, each the mean of its share of the values; what is not finite is a cross. Without `utf8` the
// heights are the characters _.,-~=+# from the least to the greatest.
[[nodiscard]] std::string sparkline(std::span<const double> values, std::size_t width, bool utf8);

}  // namespace sabath
