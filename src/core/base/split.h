// A text in parts. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sabath {

// What stands before, between and behind the marks: one part more than there are marks.
[[nodiscard]] inline std::vector<std::string> parts_at(std::string_view text, char mark) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(mark);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace sabath
