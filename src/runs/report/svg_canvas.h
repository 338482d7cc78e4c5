// The text of an SVG while it is drawn: letters, lines and markers. Coordinates are pixels. One thread.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace sabath {

inline constexpr const char* figure_ink = "#1F2933";

enum class Marker : std::uint8_t { circle, square, diamond, triangle, cross, wedge, plus, bar };

// Text for XML and HTML: control bytes and invalid UTF-8 shown as \xNN, the five special characters escaped.
[[nodiscard]] std::string xml_text(std::string_view text);

class SvgCanvas {
 public:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  // `anchor` as in SVG: "start", "middle", "end"; `more` are further attributes.
  void text(double x, double y, std::string_view anchor, std::string_view content, std::string_view more = "");
  void line(double x1, double y1, double x2, double y2, std::string_view name, std::string_view colour, double width);
  // A shape of about `size` pixels on each side of its middle, for people who cannot tell the colours apart.
  void marker(Marker marker, double x, double y, double size, std::string_view colour, std::string_view title);
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace sabath
