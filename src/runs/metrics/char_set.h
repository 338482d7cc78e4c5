// A set of characters, asked once for each byte of a log. (string_view::find_first_of calls memchr for each.) Pure.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace sabath {

class CharSet {
 public:
  constexpr explicit CharSet(std::string_view chars) {
    for (const char c : chars) has_[static_cast<unsigned char>(c)] = true;
  }
  [[nodiscard]] constexpr bool has(char c) const { return has_[static_cast<unsigned char>(c)]; }
  // As string_view::find_first_of and find_last_of.
  [[nodiscard]] constexpr std::size_t first_in(std::string_view text, std::size_t at = 0) const {
    while (at < text.size() && !has(text[at])) ++at;
    return at < text.size() ? at : std::string_view::npos;
  }
  [[nodiscard]] constexpr std::size_t last_in(std::string_view text) const {
    std::size_t at = text.size();
    while (at > 0 && !has(text[at - 1])) --at;
    return at > 0 ? at - 1 : std::string_view::npos;
  }

 private:
  std::array<bool, 256> has_{};
};

}  // namespace sabath
