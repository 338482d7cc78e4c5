#include "report/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "metrics/record.h"
#include "report/axis.h"
#include "report/curves.h"
#include "report/exporter.h"
#include "report/heading.h"
#include "report/legend.h"
#include "report/letters.h"
#include "report/svg_canvas.h"

namespace sabath {
namespace {

constexpr double left_margin = 84, right_margin = 28, right_axis_margin = 84, bottom_margin = 62, top_margin = 20;
constexpr double axis_title_width = 31, tick_gap = 9, plot_share_min = 0.55;
constexpr std::size_t points_marked_max = 80;
constexpr const char* faint = "#DFE3E8";

class Drawing {
 public:
  Drawing(std::span<const Run> runs, const Shown& shown, const FigureSize& size)
      : shown_(shown), heading_(heading_of(runs)), made_(style_curves(runs, shown)), size_(size) {}
  std::string draw();

 private:
  void make_axes();
  void lay_out(double legend_height);
  void draw_heading();
  void draw_grid();
  void draw_axis_titles();
  void draw_curve(const Curve& curve);
  void draw_line(const Curve& curve, const Axis& axis);
  void draw_point(const Curve& curve, const Axis& axis, std::size_t i);
  [[nodiscard]] std::vector<double> values(bool right) const;
  [[nodiscard]] std::string position_title() const;
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
  bool has_left_ = false, has_right_ = false, by_step_ = false, by_epoch_ = false;
  bool marked_ = true;  // each point, where no curve has many
  Axis x_, y_, time_;
  SvgCanvas canvas_;
};

// Of the left axis those within the limit, where there are any.
std::vector<double> Drawing::values(bool right) const {
  std::vector<double> all;
  for (const Curve& curve : made_.curves) {
    if (curve.right == right) all.insert(all.end(), curve.series->y.begin(), curve.series->y.end());
  }
  if (!right) std::erase_if(all, [&](double value) { return std::abs(value) > made_.limit; });
  return all;
}

double widest_label(const Axis& axis) {
  double width = 0;
  for (const Tick& tick : axis.ticks) width = std::max(width, text_width(tick.label));
  return width;
}

// As many ticks as have room for their labels, at most `most`.
int ticks_within(double length, double each, int most) { return std::clamp(static_cast<int>(length / each), 2, most); }

void Drawing::make_axes() {
  std::vector<double> positions;
  for (const Curve& curve : made_.curves) {
    positions.insert(positions.end(), curve.series->x.begin(), curve.series->x.end());
    (curve.run->by_step ? by_step_ : by_epoch_) = true;
    (curve.right ? has_right_ : has_left_) = true;
    marked_ = marked_ && curve.series->x.size() <= points_marked_max;
  }
  const int rows = ticks_within(size_.height * plot_share_min, 45, 6);
  y_ = value_axis(values(false), rows);
  time_ = value_axis(values(true), rows, true);
  const auto margin = [](double least, const Axis& axis) {
    return std::max(least, widest_label(axis) + tick_gap + axis_title_width);
  };
  left_ = has_left_ ? margin(left_margin, y_) : left_margin;
  right_ = size_.width - (has_right_ ? margin(right_axis_margin, time_) : right_margin);
  x_ = position_axis(positions, ticks_within(plot_width(), 75, 10));
}

// The plot keeps its part of the height: a long legend makes the figure higher.
void Drawing::lay_out(double legend_height) {
  const double plot_height_min = size_.height * plot_share_min;
  top_ = top_margin + 14 + (heading_.detail.empty() ? 0 : 20);
  top_ += legend_height;
  size_.height = std::max(size_.height, std::ceil(top_ + plot_height_min + bottom_margin));
  bottom_ = size_.height - bottom_margin;
}

void Drawing::draw_heading() {
  constexpr Font title{16, true}, detail{12, false};
  const double width = size_.width - left_ - right_margin;
  canvas_.text(left_, top_margin + 4, "start", cut_to_width(heading_.title, width, title),
               R"( font-size="16" font-weight="bold")");
  if (heading_.detail.empty()) return;
  canvas_.text(left_, top_margin + 24, "start", cut_to_width(heading_.detail, width, detail), R"( font-size="12")");
}

void Drawing::draw_grid() {
  canvas_.put("<g class=\"axes\" data-x=\"{:.3f}\" data-y=\"{:.3f}\" data-width=\"{:.3f}\" data-height=\"{:.3f}\"",
              left_, top_, plot_width(), plot_height());
  const auto range = [&](std::string_view name, const Axis& axis) {
    canvas_.put(R"( data-{0}-low="{1}" data-{0}-high="{2}" data-{0}-scale="{3}")", name, axis.low, axis.high,
                axis.logarithmic ? "log" : "linear");
  };
  range("position", x_);
  if (has_left_) range("left", y_);
  if (has_right_) range("right", time_);
  canvas_.put(">\n");
  const Axis& main = has_left_ ? y_ : time_;
  for (const Tick& tick : main.ticks) {
    const double y = y_at(main, tick.value);
    if (!tick.label.empty() && y < bottom_ - 1) canvas_.line(left_, y, right_, y, "grid", faint, 1);
  }
  for (const Tick& tick : has_left_ ? y_.ticks : std::vector<Tick>{}) {
    const double y = y_at(y_, tick.value);
    canvas_.line(left_ - (tick.label.empty() ? 3 : 5), y, left_, y, "axis", figure_ink, 1);
    if (!tick.label.empty()) canvas_.text(left_ - tick_gap, y + 4.5, "end", tick.label);
  }
  for (const Tick& tick : has_right_ ? time_.ticks : std::vector<Tick>{}) {
    const double y = y_at(time_, tick.value);
    canvas_.line(right_, y, right_ + (tick.label.empty() ? 3 : 5), y, "axis", figure_ink, 1);
    if (!tick.label.empty()) canvas_.text(right_ + tick_gap, y + 4.5, "start", tick.label);
  }
  for (const Tick& tick : x_.ticks) {
    const double x = x_at(tick.value);
    canvas_.line(x, bottom_, x, bottom_ + 5, "axis", figure_ink, 1);
    canvas_.text(x, bottom_ + 21, "middle", tick.label);
  }
  canvas_.line(left_, bottom_, right_, bottom_, "axis", figure_ink, 1.2);
  canvas_.line(left_, top_, left_, bottom_, "axis", figure_ink, 1.2);
  if (has_right_) canvas_.line(right_, top_, right_, bottom_, "axis", figure_ink, 1.2);
  canvas_.put("</g>\n");
}

std::string left_title(const Shown& shown, const Axis& axis) {
  std::string title;
  if (shown.left.size() == 1) {
    title = shown.left.front();
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

std::string Drawing::position_title() const { return !by_step_ ? "epoch" : by_epoch_ ? "epoch or step" : "step"; }

void Drawing::draw_axis_titles() {
  const double middle = (top_ + bottom_) / 2;
  const auto upright = [&](double x, double angle, const std::string& title) {
    canvas_.text(x, middle, "middle", cut_to_width(title, plot_height(), {14, false}),
                 fmt::format(R"x( font-size="14" transform="rotate({} {:.1f} {:.1f})")x", angle, x, middle));
  };
  canvas_.text((left_ + right_) / 2, size_.height - 16, "middle", position_title(), R"( font-size="14")");
  if (has_left_) upright(22, -90, left_title(shown_, y_));
  if (has_right_)
    upright(size_.width - 20, 90, std::string("time per epoch [s]") + (time_.logarithmic ? " (logarithmic)" : ""));
}

void Drawing::draw_curve(const Curve& curve) {
  const Axis& axis = curve.right ? time_ : y_;
  canvas_.put(R"(<g class="curve"{} data-run="{}" data-metric="{}" data-axis="{}">)"
              "\n",
              curve.right ? " opacity=\"0.6\"" : "", xml_text(curve.run->label), xml_text(curve.series->name),
              curve.right ? "right" : "left");
  draw_line(curve, axis);
  for (std::size_t i = 0; i < curve.series->x.size(); ++i) draw_point(curve, axis, i);
  canvas_.put("</g>\n");
}

// What is beyond the axis is a gap at its end, behind the way there.
void Drawing::draw_line(const Curve& curve, const Axis& axis) {
  canvas_.put(R"(<path fill="none" stroke="{}" stroke-width="{}" stroke-linejoin="round" stroke-linecap="round")",
              curve.colour, curve.right ? 1.6 : 2.2);
  if (!curve.dash.empty()) canvas_.put(R"( stroke-dasharray="{}")", curve.dash);
  canvas_.put(" d=\"");
  bool down = false, was_beyond = false;
  for (const Point& point : points_of(*curve.series, x_, axis, plot_width(), plot_height())) {
    const bool drawn = std::isfinite(point.y);
    const bool joined = down && !(point.beyond && was_beyond);
    if (drawn) canvas_.put("{}{:.2f} {:.2f}", joined ? "L" : "M", left_ + point.x, top_ + point.y);
    down = drawn;
    was_beyond = point.beyond;
  }
  canvas_.put("\"/>\n");
}

// A mark with the value; where a curve has many points, only one for each gap and each way beyond the axis.
void Drawing::draw_point(const Curve& curve, const Axis& axis, std::size_t i) {
  const Series& series = *curve.series;
  const auto is_plain = [&](double value) { return std::isfinite(value) && axis.holds(value); };
  const double value = series.y[i];
  if (!marked_ && (is_plain(value) || (i > 0 && !is_plain(series.y[i - 1])))) return;
  const double x = x_at(series.x[i]);
  const std::string title =
      xml_text(fmt::format("{}: {} {} {} = {}", curve.run->label, curve.run->by_step ? "step" : "epoch", series.x[i],
                           series.name, number_text(value)));
  if (is_plain(value)) {
    canvas_.marker(curve.marker, x, y_at(axis, value), curve.right ? 2.0 : 2.8, curve.colour, title);
  } else if (std::isfinite(value)) {
    canvas_.put(R"(<path class="beyond" fill="{}" d="M{:.2f} {:.2f}l-5 {}h10z"><title>{}</title></path>)"
                "\n",
                curve.colour, x, y_at(axis, value), value > 0 ? 9 : -9, title);
  } else {
    canvas_.put(
        R"(<path class="gap" stroke="{}" stroke-width="2" d="M{:.2f} {:.2f}l8 8m0 -8l-8 8"><title>{}</title></path>)"
        "\n",
        curve.colour, x - 4, bottom_ - 12, title);
  }
}

std::string Drawing::draw() {
  make_axes();
  const Legend legend(made_, plot_width());
  lay_out(legend.height());
  canvas_.put(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"'DejaVu Sans', Verdana, 'Segoe UI', sans-serif\" font-size=\"13\">\n",
      size_.width, size_.height);
  canvas_.put("<title>{}, by {}</title>\n", xml_text(heading_.title), position_title());
  canvas_.put("<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n");
  if (made_.curves.empty()) {
    canvas_.text(size_.width / 2, size_.height / 2, "middle", "no metric of any epoch or step to draw");
  } else {
    draw_heading();
    legend.draw(canvas_, left_, top_ - legend.height());
    draw_grid();
    draw_axis_titles();
    // Times first, so that losses and errors are drawn over them.
    for (const bool right : {true, false}) {
      for (const Curve& curve : made_.curves) {
        if (curve.right == right) draw_curve(curve);
      }
    }
  }
  canvas_.put("</svg>\n");
  return canvas_.take();
}

}  // namespace

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
