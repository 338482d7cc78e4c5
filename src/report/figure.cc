#include "report/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/counted.h"
#include "metrics/record.h"
#include "report/axis.h"
#include "report/curves.h"
#include "report/exporter.h"
#include "report/heading.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr double left_margin = 84, right_margin = 28, right_axis_margin = 84, bottom_margin = 62, top_margin = 20;
constexpr double legend_row = 22, legend_swatch = 30, legend_gap = 22, letter_width = 7.4;
constexpr std::size_t label_length_max = 48, title_length_max = 76, detail_length_max = 120, points_marked_max = 80;
constexpr const char* ink = "#1F2933";
constexpr const char* faint = "#DFE3E8";

class Drawing {
 public:
  Drawing(std::span<const Run> runs, const Shown& shown, const FigureSize& size)
      : shown_(shown), heading_(heading_of(runs)), made_(style_curves(runs, shown)), size_(size) {}
  std::string draw();

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void text(double x, double y, std::string_view anchor, std::string_view content, std::string_view extra = "");
  void make_axes();
  void draw_heading();
  void draw_legend();
  void draw_marker(Marker marker, double x, double y, double size, const std::string& colour, std::string_view title);
  void draw_grid();
  void draw_axis_titles();
  void draw_curve(const Curve& curve);
  [[nodiscard]] std::vector<double> values(bool right) const;
  [[nodiscard]] double plot_width() const { return right_ - left_; }
  [[nodiscard]] double plot_height() const { return bottom_ - top_; }
  [[nodiscard]] double x_at(double value) const { return left_ + x_.share(value) * plot_width(); }
  [[nodiscard]] double y_at(const Axis& axis, double value) const {
    return bottom_ - axis.share(value) * plot_height();
  }

  const Shown& shown_;
  const Heading heading_;
  Curves made_;
  FigureSize size_;
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
  bool has_left_ = false, has_right_ = false, by_step_ = false;
  bool marked_ = true;  // each point, where no curve has many
  Axis x_, y_, time_;
  std::string out_;
};

std::string cut(const std::string& label, std::size_t length_max = label_length_max) {
  const std::string clean = printable(label, 4096);
  if (clean.size() <= length_max) return clean;
  // The end of a run's name tells it from its neighbours.
  std::size_t end = clean.size() - length_max / 2;
  while (end < clean.size() && (static_cast<unsigned char>(clean[end]) & 0xc0) == 0x80) ++end;
  std::size_t begin = length_max / 2;
  while (begin > 0 && (static_cast<unsigned char>(clean[begin]) & 0xc0) == 0x80) --begin;
  return clean.substr(0, begin) + "…" + clean.substr(end);
}

void Drawing::text(double x, double y, std::string_view anchor, std::string_view content, std::string_view extra) {
  put(R"(<text class="ink" x="{:.1f}" y="{:.1f}" text-anchor="{}" fill="{}"{}>{}</text>)"
      "\n",
      x, y, anchor, ink, extra, xml_text(content));
}

std::vector<double> Drawing::values(bool right) const {
  std::vector<double> all;
  for (const Curve& curve : made_.curves) {
    if (curve.right == right) all.insert(all.end(), curve.series->y.begin(), curve.series->y.end());
  }
  return all;
}

void Drawing::make_axes() {
  std::vector<double> positions;
  for (const Curve& curve : made_.curves) {
    positions.insert(positions.end(), curve.series->x.begin(), curve.series->x.end());
    by_step_ = by_step_ || curve.run->by_step;
    (curve.right ? has_right_ : has_left_) = true;
    marked_ = marked_ && curve.series->x.size() <= points_marked_max;
  }
  left_ = left_margin;
  right_ = size_.width - (has_right_ ? right_axis_margin : right_margin);
  bottom_ = size_.height - bottom_margin;
  x_ = position_axis(positions, 10);
  y_ = value_axis(values(false), 6);
  time_ = value_axis(values(true), 6, true);
}

void Drawing::draw_heading() {
  text(left_, top_margin + 4, "start", cut(heading_.title, title_length_max), R"( font-size="16" font-weight="bold")");
  top_ = top_margin + 14;
  if (heading_.detail.empty()) return;
  text(left_, top_margin + 24, "start", cut(heading_.detail, detail_length_max), R"( font-size="12")");
  top_ += 20;
}

// A shape of about `size` pixels on each side of its middle, for people who cannot tell the colours apart.
void Drawing::draw_marker(Marker marker, double x, double y, double size, const std::string& colour,
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

// Entries from left to right, as many rows as they need; the plot begins below.
void Drawing::draw_legend() {
  double x = left_, y = top_ + 14;
  put("<g class=\"legend\">\n");
  const auto entry = [&](const std::string& label, const std::string& colour, const std::string& dash,
                         std::optional<Marker> marker) {
    const std::string shown = cut(label, colour.empty() ? detail_length_max : label_length_max);
    const double width = (colour.empty() ? 0 : legend_swatch + 8) + letter_width * static_cast<double>(shown.size());
    if (x > left_ && x + width > right_) {
      x = left_;
      y += legend_row;
    }
    if (!colour.empty()) {
      put(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="2.5")", x, y - 4,
          x + legend_swatch, y - 4, colour);
      if (!dash.empty()) put(R"( stroke-dasharray="{}")", dash);
      put("/>\n");
      if (marker) draw_marker(*marker, x + legend_swatch / 2, y - 4, 3.2, colour, "");
    }
    text(colour.empty() ? x : x + legend_swatch + 8, y, "start", shown);
    x += width + legend_gap;
  };
  for (const LegendEntry& one : made_.legend) entry(one.label, one.colour, one.dash, one.marker);
  if (made_.runs_left_out > 0) {
    const std::string by = made_.left_out_by.empty() ? "" : fmt::format("; these have the best {}", made_.left_out_by);
    entry(fmt::format("({} not drawn{})", counted(made_.runs_left_out, "more run is", "more runs are"), by), "", "",
          {});
  }
  put("</g>\n");
  top_ = y + 18;
}

void Drawing::draw_grid() {
  put("<g class=\"axes\" data-x=\"{:.3f}\" data-y=\"{:.3f}\" data-width=\"{:.3f}\" data-height=\"{:.3f}\"", left_, top_,
      plot_width(), plot_height());
  const auto range = [&](std::string_view name, const Axis& axis) {
    put(R"( data-{0}-low="{1}" data-{0}-high="{2}" data-{0}-scale="{3}")", name, axis.low, axis.high,
        axis.logarithmic ? "log" : "linear");
  };
  range("position", x_);
  if (has_left_) range("left", y_);
  if (has_right_) range("right", time_);
  put(">\n");
  const auto line = [&](double x1, double y1, double x2, double y2, std::string_view name, const char* colour,
                        double width) {
    put(R"(<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="{}"/>)"
        "\n",
        name, x1, y1, x2, y2, colour, width);
  };
  const Axis& main = has_left_ ? y_ : time_;
  for (const Tick& tick : main.ticks) {
    const double y = y_at(main, tick.value);
    if (!tick.label.empty() && y < bottom_ - 1) line(left_, y, right_, y, "grid", faint, 1);
  }
  for (const Tick& tick : has_left_ ? y_.ticks : std::vector<Tick>{}) {
    const double y = y_at(y_, tick.value);
    line(left_ - (tick.label.empty() ? 3 : 5), y, left_, y, "axis", ink, 1);
    if (!tick.label.empty()) text(left_ - 9, y + 4.5, "end", tick.label);
  }
  for (const Tick& tick : has_right_ ? time_.ticks : std::vector<Tick>{}) {
    const double y = y_at(time_, tick.value);
    line(right_, y, right_ + (tick.label.empty() ? 3 : 5), y, "axis", ink, 1);
    if (!tick.label.empty()) text(right_ + 9, y + 4.5, "start", tick.label);
  }
  for (const Tick& tick : x_.ticks) {
    const double x = x_at(tick.value);
    line(x, bottom_, x, bottom_ + 5, "axis", ink, 1);
    text(x, bottom_ + 21, "middle", tick.label);
  }
  line(left_, bottom_, right_, bottom_, "axis", ink, 1.2);
  line(left_, top_, left_, bottom_, "axis", ink, 1.2);
  if (has_right_) line(right_, top_, right_, bottom_, "axis", ink, 1.2);
  put("</g>\n");
}

std::string left_title(const Shown& shown, const Axis& axis) {
  std::string title;
  if (shown.left.size() == 1) {
    title = cut(shown.left.front());
  } else {
    bool loss = false, error = false, other = false;
    for (const std::string& name : shown.left) {
      const Role role = role_of(name);
      (role == Role::loss ? loss : role == Role::error ? error : other) = true;
    }
    title = other ? "value" : loss && error ? "loss and error" : loss ? "loss" : "error";
  }
  return title + (axis.logarithmic ? " (logarithmic)" : "");
}

void Drawing::draw_axis_titles() {
  const double middle = (top_ + bottom_) / 2;
  const auto upright = [&](double x, double angle, const std::string& title) {
    text(x, middle, "middle", title,
         fmt::format(R"x( font-size="14" transform="rotate({} {:.1f} {:.1f})")x", angle, x, middle));
  };
  text((left_ + right_) / 2, size_.height - 16, "middle", by_step_ ? "step" : "epoch", R"( font-size="14")");
  if (has_left_) upright(22, -90, left_title(shown_, y_));
  if (has_right_)
    upright(size_.width - 20, 90, std::string("time per epoch [s]") + (time_.logarithmic ? " (logarithmic)" : ""));
}

void Drawing::draw_curve(const Curve& curve) {
  const Axis& axis = curve.right ? time_ : y_;
  const auto points = points_of(*curve.series, x_, axis, plot_width(), plot_height());
  put(R"(<g class="curve" data-run="{}" data-metric="{}" data-axis="{}">)"
      "\n",
      xml_text(curve.run->label), xml_text(curve.series->name), curve.right ? "right" : "left");
  put(R"(<path fill="none" stroke="{}" stroke-width="{}" stroke-linejoin="round" stroke-linecap="round")", curve.colour,
      curve.right ? 1.6 : 2.2);
  if (!curve.dash.empty()) put(R"( stroke-dasharray="{}")", curve.dash);
  put(" d=\"");
  bool down = false;
  for (const Point& point : points) {
    const bool drawn = std::isfinite(point.y);
    if (drawn) put("{}{:.2f} {:.2f}", down ? "L" : "M", left_ + point.x, top_ + point.y);
    down = drawn;
  }
  put("\"/>\n");
  const Series& series = *curve.series;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const bool finite = std::isfinite(series.y[i]);
    if (!marked_ && finite) continue;
    if (!marked_ && i > 0 && !std::isfinite(series.y[i - 1])) continue;  // a cross for each gap
    const double x = x_at(series.x[i]), y = finite ? y_at(axis, series.y[i]) : bottom_;
    const std::string title = xml_text(fmt::format("{}: {} {} {} = {}", curve.run->label, by_step_ ? "step" : "epoch",
                                                   series.x[i], series.name, number_text(series.y[i])));
    if (finite) {
      draw_marker(curve.marker, x, y, curve.right ? 2.0 : 2.8, curve.colour, title);
    } else {
      put(R"(<path class="gap" stroke="{}" stroke-width="2" d="M{:.2f} {:.2f}l8 8m0 -8l-8 8"><title>{}</title></path>)"
          "\n",
          curve.colour, x - 4, y - 12, title);
    }
  }
  put("</g>\n");
}

std::string Drawing::draw() {
  make_axes();
  put("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"'DejaVu Sans', Verdana, 'Segoe UI', sans-serif\" font-size=\"13\">\n",
      size_.width, size_.height);
  put("<title>{}, by {}</title>\n", xml_text(heading_.title), by_step_ ? "step" : "epoch");
  put("<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n");
  if (made_.curves.empty()) {
    text(size_.width / 2, size_.height / 2, "middle", "no metric of any epoch or step to draw");
  } else {
    draw_heading();
    draw_legend();
    draw_grid();
    draw_axis_titles();
    // Times first, so that losses and errors are drawn over them.
    for (const bool right : {true, false}) {
      for (const Curve& curve : made_.curves) {
        if (curve.right == right) draw_curve(curve);
      }
    }
  }
  put("</svg>\n");
  return std::move(out_);
}

}  // namespace

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

std::string draw_figure(std::span<const Run> runs, const Shown& shown, const FigureSize& size) {
  return Drawing(runs, shown, size).draw();
}

namespace {

void write_svg(std::span<const Run> runs, const ExportOptions& options, ExportSink& sink) {
  sink.write(draw_figure(runs, shown_in_figure(runs, options.metrics)));
}

}  // namespace

extern constexpr Exporter svg_exporter{.name = "svg", .endings = {".svg"}, .write = write_svg};

}  // namespace sabath
