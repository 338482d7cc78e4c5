// The scalars of one JSON object as logs print it: a bare NaN or Infinity is a number, text after the object is
// ignored, and a Python dict's quotes and words are read. (JSON libraries refuse these, and logs of real runs have
// them.) No copies: the leaves point into the text. Pure; any thread; no throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

// {"outer": scalar}, {"outer": {"inner": scalar}}, and arrays of scalars instead of these scalars; deeper values are
// checked and skipped.
struct JsonLeaf {
  enum class Kind : std::uint8_t { number, text, boolean, null };
  std::string_view outer, inner;  // keys as written, between the quotes
  int index = -1;                 // in an array
  Kind kind = Kind::null;
  double number = 0;      // of a number
  std::string_view text;  // of a text: as written, between the quotes; of a number: its digits
};

// The bytes that the object at the front takes, nullopt if there is no whole object; fills `leaves`.
[[nodiscard]] std::optional<std::size_t> scan_json_object(std::string_view text, std::vector<JsonLeaf>& leaves);

// A text with its escapes resolved; wrong ones stay as they are.
[[nodiscard]] std::string json_unescape(std::string_view text);

// "text" with quotes, for one line of JSON; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_quote(std::string_view text);

}  // namespace sabath
