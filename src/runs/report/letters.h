// How wide a text stands in a figure, and names that are cut so that they fit and still differ. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct Font {
  double size = 13;  // pixels
  bool bold = false;
};

// Of the widest font that a figure names (DejaVu Sans, Verdana), in pixels; others take less.
[[nodiscard]] double text_width(std::string_view text, const Font& font = {});

// Control bytes shown; a text that is too long loses its middle, because the end of a name tells it from its
// neighbours.
[[nodiscard]] std::string cut_to_length(std::string_view text, std::size_t length_max);
[[nodiscard]] std::string cut_to_width(std::string_view text, double width_max, const Font& font = {});

// Each cut to the length; those that would be the same then are cut in front of what differs, or numbered.
[[nodiscard]] std::vector<std::string> short_names(const std::vector<std::string>& names, std::size_t length_max);

// "a, b and 3 more": as many names as the width holds, one at least.
[[nodiscard]] std::string listed(const std::vector<std::string>& names, double width_max, const Font& font = {});

}  // namespace sabath
