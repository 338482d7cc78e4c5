// A file of a conda package names the place of a prefix: at first by a long placeholder, in a prefix by the prefix's
// own path. Another place is put in: in texts as it is, in binary files so that no byte behind it moves. Pure; any
// thread. Throws Error{invalid} that says why, without the file's name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sabath {

inline constexpr std::size_t placeholder_min = 8, placeholder_max = 1024;

struct PlaceSwap {
  std::string_view old;      // what stands in the file
  std::string_view by;       // the place that is to stand there
  std::size_t room = 0;      // binary: the bytes that the package left for it, those of its placeholder
  bool whole_names = false;  // `old` counts only where no letter, digit or any of "._-+" follows
};

struct SwappedText {
  std::string text;
  std::size_t times = 0;
};

[[nodiscard]] SwappedText swap_in_text(std::string_view text, const PlaceSwap& swap);
// The file keeps its length: each text that a NUL ends is filled up with NULs, or takes some of those behind it. What
// no NUL ends stays.
[[nodiscard]] SwappedText swap_in_binary(std::string_view bytes, const PlaceSwap& swap);

}  // namespace sabath
