// A path inside an asset that cannot leave it, made only by parsing.
//
// Components are separated by '/', none is empty, "." or "..", each has at most 255 bytes, the whole at most
// 4095, at most 128 components; valid UTF-8 without control bytes (C0, DEL, C1). Never absolute.
#pragma once

#include <compare>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sabath {

class RelativePath {
 public:
  // Throws Error{invalid}; the message shows the offending text with control bytes escaped.
  [[nodiscard]] static RelativePath parse(std::string_view text);
  [[nodiscard]] static std::optional<RelativePath> try_parse(std::string_view text);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] std::string_view name() const noexcept;                   // last component
  [[nodiscard]] std::string_view parent() const noexcept;                 // everything before it, "" at the top
  [[nodiscard]] RelativePath operator/(const RelativePath& below) const;  // throws Error{invalid} if too long
  friend auto operator<=>(const RelativePath&, const RelativePath&) = default;

 private:
  explicit RelativePath(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// True if a relative symlink standing at `link` with this target stays inside the asset, judged by text alone: ".." may
// stand only at its front, because behind a name it could climb from where another symlink leads.
[[nodiscard]] bool symlink_stays_inside(const RelativePath& link, std::string_view target);

// `text`, cut at `length_max` bytes, with invalid UTF-8, control and hidden characters (bidi, ...) as \xNN, \uNNNN.
[[nodiscard]] std::string printable(std::string_view text, std::size_t length_max = 200);

}  // namespace sabath

template <>
struct std::hash<sabath::RelativePath> {
  std::size_t operator()(const sabath::RelativePath& p) const noexcept { return std::hash<std::string>{}(p.text()); }
};
