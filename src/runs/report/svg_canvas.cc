#include "report/svg_canvas.h"

#include <array>

#include "sabath/path.h"

namespace sabath {

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text, 1 << 16)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

void SvgCanvas::text(double x, double y, std::string_view anchor, std::string_view content, std::string_view more) {
  put(R"(<text class="ink" x="{:.1f}" y="{:.1f}" text-anchor="{}" fill="{}"{}>{}</text>)"
      "\n",
      x, y, anchor, figure_ink, more, xml_text(content));
}

void SvgCanvas::line(double x1, double y1, double x2, double y2, std::string_view name, std::string_view colour,
                     double width) {
  put(R"(<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="{}"/>)"
      "\n",
      name, x1, y1, x2, y2, colour, width);
}

void SvgCanvas::marker(Marker marker, double x, double y, double size, std::string_view colour,
                       std::string_view title) {
  if (marker == Marker::circle) {
    put(R"(<circle cx="{:.2f}" cy="{:.2f}" r="{:.1f}" fill="{}">)", x, y, size, colour);
    put("<title>{}</title></circle>\n", title);
    return;
  }
  constexpr std::array<std::string_view, 8> shapes{"",
                                                   "-1 -1H1V1H-1Z",
                                                   "0 -1.4L1.4 0L0 1.4L-1.4 0Z",
                                                   "0 -1.3L1.3 1H-1.3Z",
                                                   "-1 -1L1 1M1 -1L-1 1",
                                                   "0 1.3L1.3 -1H-1.3Z",
                                                   "0 -1.4V1.4M-1.4 0H1.4",
                                                   "0 -1.5V1.5"};
  put(R"x(<path class="marker" transform="translate({:.2f} {:.2f}) scale({:.1f})" fill="{}" stroke="{}" )x", x, y, size,
      colour, colour);
  put(R"(stroke-width="0.7" d="M{}"><title>{}</title></path>)"
      "\n",
      shapes.at(static_cast<std::size_t>(marker)), title);
}

}  // namespace sabath
