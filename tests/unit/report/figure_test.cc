// Figures by numbers that were worked out by hand: where a value is drawn, what is said of gaps, of many runs, of none.
#include "report/figure.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>

#include "report/axis.h"
#include "report/curves.h"
#include "runs.h"

namespace sabath {
namespace {

using test::nan;
using test::run_of;
using test::series;

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

double plot_height_of(const std::string& svg) {
  const std::string_view key = "data-height=\"";
  return std::stod(svg.substr(svg.find(key) + key.size()));
}

std::string drawn(const std::vector<sabath::Run>& runs) { return draw_figure(runs, choose_shown(runs, {}, 6)); }

// 960 by 540 pixels: the plot is 848 by 412, from (84, 66). Epochs end 1.5 % beyond 1 and 3, losses at 0 and at 3.
TEST(Figure, AValueIsDrawnWhereItBelongs) {
  const std::string svg = drawn({run_of({series("loss", {1, 2, 3})})});
  EXPECT_TRUE(has(svg, R"( d="M96.35 340.67L508.00 203.33L919.65 66.00"/>)")) << svg;
  EXPECT_TRUE(has(svg, R"(data-x="84.000" data-y="66.000" data-width="848.000" data-height="412.000")"));
  EXPECT_TRUE(has(svg, R"(data-position-low="0.97" data-position-high="3.03" data-position-scale="linear")"));
  EXPECT_TRUE(has(svg, R"(data-left-low="0" data-left-high="3" data-left-scale="linear")"));
  EXPECT_TRUE(has(svg, R"(<g class="curve" data-run="a run" data-metric="loss" data-axis="left">)"));
  EXPECT_TRUE(has(svg, R"(<circle cx="508.00" cy="203.33" r="2.8" fill="#0072B2"><title>a run: epoch 2 loss = 2)"));
  EXPECT_EQ(count(svg, "<circle"), 3U);
  EXPECT_FALSE(has(svg, "data-right-low"));
}

TEST(Figure, TimesHaveTheRightAxis) {
  const std::string svg = drawn({run_of({series("loss", {1, 2, 3}), series("epoch_time", {30, 20, 10})})});
  EXPECT_TRUE(has(svg, R"(data-width="792.000")"));  // 56 pixels less
  EXPECT_TRUE(has(svg, R"(data-right-low="0" data-right-high="30" data-right-scale="linear")"));
  EXPECT_TRUE(has(svg, R"(data-metric="epoch_time" data-axis="right">)"));
  EXPECT_TRUE(has(svg, "time per epoch [s]</text>"));
  EXPECT_LT(svg.find("data-axis=\"right\""), svg.find("data-axis=\"left\""));  // what was learnt stands in front
}

TEST(Figure, AGapIsCrossedAndNotDrawnThrough) {
  const std::string svg = drawn({run_of({series("loss", {1, nan, 3})})});
  EXPECT_TRUE(has(svg, R"( d="M96.35 340.67M919.65 66.00"/>)")) << svg;
  EXPECT_EQ(count(svg, "class=\"gap\""), 1U);
  EXPECT_TRUE(has(svg, "<title>a run: epoch 2 loss = NaN</title>"));
}

TEST(Figure, ManyPointsAreNotMarkedOneByOne) {
  std::vector<double> values(81, 1.0);
  values[40] = values[41] = nan;
  const std::string svg = drawn({run_of({series("loss", values)})});
  EXPECT_EQ(count(svg, "<circle"), 0U);
  EXPECT_EQ(count(svg, "class=\"gap\""), 1U);  // for the gap, however wide
  values.pop_back();
  EXPECT_EQ(count(drawn({run_of({series("loss", values)})}), "<circle"), 78U);
}

TEST(Figure, WithoutAValueItSaysSo) {
  for (const auto& runs : {std::vector<sabath::Run>{}, std::vector<sabath::Run>{run_of({})}}) {
    const std::string svg = draw_figure(runs, {});
    EXPECT_TRUE(has(svg, "no metric of any epoch or step to draw"));
    EXPECT_EQ(count(svg, "class=\"axes\""), 0U);
  }
  const std::string svg = drawn({run_of({series("loss", {nan, nan})})});  // an axis, and two epochs without a number
  EXPECT_TRUE(has(svg, R"( d=""/>)"));
  EXPECT_FALSE(has(svg, "=\"nan")) << svg;
}

TEST(Figure, StepsHaveNoTimePerEpoch) {
  sabath::Run run = run_of({series("loss", {1, 2}, 100), series("epoch_time", {3, 4}, 100)});
  run.by_step = true;
  const std::string svg = drawn({run});
  EXPECT_TRUE(has(svg, "<title>a run, by step</title>"));
  EXPECT_TRUE(has(svg, ">step</text>"));
  EXPECT_FALSE(has(svg, "data-axis=\"right\""));
}

TEST(Figure, ALongNameIsCutInItsMiddle) {
  sabath::Run run = run_of({series("loss", {1, 2})}), other = run;
  run.label = std::string(100, 'a') + "é-1";
  other.label = std::string(100, 'a') + "é-2";
  const std::string svg = drawn({run, other});
  for (const char* const number : {"1", "2"}) {
    EXPECT_TRUE(std::regex_search(svg, std::regex(fmt::format(">a{{9,24}}…a{{5,20}}é-{}</text>", number)))) << svg;
  }
  EXPECT_TRUE(has(svg, "data-run=\"" + run.label + "\""));  // whole for programs
}

TEST(Figure, RunsBeyondEightAreCounted) {
  const std::vector<sabath::Run> runs(10, run_of({series("loss", {1, 2}), series("val_loss", {2, 3})}));
  const std::string svg = drawn(runs);
  EXPECT_EQ(count(svg, "<g class=\"curve\""), 16U);
  EXPECT_TRUE(has(svg, "2 runs not drawn: a run, a run (2); these have the best val_loss"));
}

// Letters of this width in the widest font that the figure names, of 13 pixels; "…" is as wide as that.
double width_of(const std::string& text) {
  const auto letters =
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  const auto wide = std::ranges::count(text, 'W');
  return 13 * (0.989 * static_cast<double>(wide) + 0.55 * static_cast<double>(letters - wide));
}

TEST(Figure, NoNameRunsIntoItsNeighbourOrOffThePaper) {
  std::vector<sabath::Run> runs;
  for (int i = 0; i < 10; ++i) {
    runs.push_back(
        run_of({series("loss", {1, 2}), series("val_" + std::string(70, 'W'), {2, 3}), series("mae", {1, 2})}));
    runs.back().label = fmt::format("{}{:02}{}", std::string(60, 'W'), i, std::string(60, 'W'));
  }
  const std::regex text(R"x(<text class="ink" x="([\d.]+)" y="([\d.]+)" text-anchor="start"[^>]*>([^<]*)<)x");
  for (const FigureSize size : {FigureSize{420, 300}, FigureSize{960, 540}, FigureSize{1920, 1080}}) {
    const std::string svg = draw_figure(runs, shown_in_figure(runs, {}), size);
    const auto begin = svg.find("<g class=\"legend\">");
    const std::string legend = svg.substr(begin, svg.find("</g>", begin) - begin);
    std::map<std::string, double> ends;  // of each row so far
    std::set<std::string> names;
    for (std::sregex_iterator at(legend.begin(), legend.end(), text), end; at != end; ++at) {
      const double x = std::stod((*at)[1]);
      constexpr double swatch = 38;
      if (ends.contains((*at)[2])) {
        EXPECT_GE(x - swatch, ends[(*at)[2]]) << size.width << ": " << (*at)[3];
      }
      ends[(*at)[2]] = x + width_of((*at)[3]);
      EXPECT_LE(ends[(*at)[2]], size.width) << (*at)[3];
      EXPECT_TRUE(names.insert((*at)[3]).second) << "twice: " << (*at)[3];
    }
    EXPECT_GE(names.size(), 8U + 2U + 2U);  // runs, metrics, and what is not drawn
    EXPECT_GE(plot_height_of(svg), 0.5 * size.height);
  }
}

TEST(Figure, ARunThatDivergedFlattensNoOther) {
  std::vector<sabath::Run> runs;
  for (int i = 0; i < 3; ++i) {
    runs.push_back(run_of({series("loss", {0.7 + 0.01 * i, 0.4, 0.2, 0.1})}));
    runs.back().label = fmt::format("run {}", i);
  }
  runs[1].series = {series("loss", {0.7, 1e5, 1e100, 1e267})};
  const std::string svg = drawn(runs);
  EXPECT_TRUE(has(svg, R"(data-left-high="0.8")")) << svg;
  EXPECT_EQ(count(svg, "class=\"beyond\""), 3U);
  EXPECT_TRUE(has(svg, "<title>run 1: epoch 4 loss = 1e+267</title>"));
  EXPECT_TRUE(has(svg, ">beyond the axis: loss of run 1 to 1e+267</text>"));
  EXPECT_FALSE(has(drawn({runs[0], runs[2]}), "beyond"));
}

TEST(Figure, ALossThatGrowsFromNothingIsNoDivergence) {
  EXPECT_FALSE(has(drawn({run_of({series("kl_loss", {1e-6, 0.5, 2, 3, 4, 4, 5})})}), "beyond"));
  EXPECT_FALSE(has(drawn({run_of({series("tokens", {1, 1e4, 1e8, 1e12})})}), "beyond"));
}

TEST(Figure, WhatIsNotDrawnIsNamed) {
  const auto all = {series("mae", {1, 2}), series("loss", {1, 2}), series("val_mae", {1, 2}),
                    series("accuracy", {1, 2}), series("val_loss", {2, 3})};
  const std::vector<sabath::Run> runs(2, run_of(all));
  const std::string svg = draw_figure(runs, shown_in_figure(runs, {}));
  EXPECT_TRUE(has(svg, ">metrics not drawn: mae, val_mae, accuracy</text>")) << svg;
  for (const char* const metric : {"loss", "val_loss"}) {  // a training loss belongs to its validation
    EXPECT_EQ(count(svg, fmt::format("data-metric=\"{}\"", metric)), 2U);
  }
  EXPECT_FALSE(has(draw_figure(runs, shown_in_figure(runs, {"accuracy"})), "not drawn"));  // that was asked for
}

TEST(Figure, NoAxisLabelRunsIntoTheTitleOfItsAxis) {
  const std::string svg =
      drawn({run_of({series("loss", {1.234567e8, 1.234568e8}), series("epoch_time", {123456, 123457})})});
  const std::regex label(R"x(<text class="ink" x="([\d.]+)" y="[\d.]+" text-anchor="end"[^>]*>([^<]*)<)x");
  for (std::sregex_iterator at(svg.begin(), svg.end(), label), end; at != end; ++at)
    EXPECT_GE(std::stod((*at)[1]) - width_of((*at)[2]), 26) << (*at)[2];
}

TEST(Curves, OneRunHasAColourForEachMetric) {
  const std::vector<sabath::Run> runs{run_of({series("a", {1}), series("b", {1}), series("epoch_time", {1})})};
  const Curves made = style_curves(runs, {.left = {"a", "none", "b"}, .right = "epoch_time"});
  ASSERT_EQ(made.curves.size(), 3U);
  EXPECT_EQ(made.curves[0].colour, "#0072B2");
  EXPECT_EQ(made.curves[1].colour, "#009E73");  // its own, also where another metric is missing
  EXPECT_EQ(made.curves[0].dash, "");
  EXPECT_TRUE(made.curves[2].right);
  ASSERT_EQ(made.legend.size(), 3U);
  EXPECT_EQ(made.legend[2].label, "epoch_time (right)");
}

TEST(Curves, SeveralRunsHaveAColourEachAndMetricsADash) {
  std::vector<sabath::Run> runs(3, run_of({series("a", {1}), series("b", {1})}));
  runs[1].series.pop_back();
  runs[2].series.clear();
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].label = fmt::format("run {}", i);
  const Curves made = style_curves(runs, {.left = {"a", "b"}, .right = ""});
  std::vector<std::string> curves, legend;
  for (const Curve& curve : made.curves) {
    curves.push_back(fmt::format("{} {} {} {}", curve.run->label, curve.series->name, curve.colour, curve.dash));
  }
  for (const LegendEntry& entry : made.legend) legend.push_back(entry.label + " " + entry.colour + " " + entry.dash);
  EXPECT_EQ(curves, (std::vector<std::string>{"run 0 a #0072B2 ", "run 0 b #0072B2 8 4", "run 1 a #D55E00 "}));
  EXPECT_EQ(legend, (std::vector<std::string>{"run 0 #0072B2 ", "run 1 #D55E00 ", "a #7A7F87 ", "b #7A7F87 8 4"}));
  EXPECT_TRUE(made.runs_left_out.empty());
}

// A gap that is wider than a pixel.
TEST(Curves, AGapOutlivesThinning) {
  std::vector<double> values(10'000, 1.0);
  for (std::size_t i = 5000; i < 5300; ++i) values[i] = nan;
  const Series many = series("loss", values);
  const Axis x = position_axis(many.x, 10), y = value_axis(many.y, 6);
  const auto points = points_of(many, x, y, 100, 50);
  EXPECT_LE(points.size(), 202U);
  EXPECT_TRUE(std::ranges::any_of(points, [](const Point& point) { return !std::isfinite(point.y); }));
  EXPECT_TRUE(std::ranges::is_sorted(points, {}, &Point::x));
}

// ln(1.15) / ln(1150 * 1.15), by another program.
TEST(Axis, LogarithmicSharesAreThoseOfLogarithms) {
  const Axis axis = value_axis({1, 1000}, 6);
  ASSERT_TRUE(axis.logarithmic);
  EXPECT_NEAR(axis.share(1), 0.01944573727988858, 1e-12);
  EXPECT_NEAR(axis.share(std::sqrt(1000)), 0.5, 1e-12);
  EXPECT_EQ(axis.share(1e9), 1);  // what is beyond is on the frame
  EXPECT_EQ(axis.share(1e-9), 0);
  EXPECT_FALSE(value_axis({1, 100}, 6).logarithmic);  // two decades and no more
  EXPECT_FALSE(value_axis({0, 1000}, 6).logarithmic);
}

}  // namespace
}  // namespace sabath
