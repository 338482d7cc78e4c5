// The decisions behind a report: axes, which metrics are shown, expectations, comparisons, and which value counts.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "metrics/sparkline.h"
#include "report/axis.h"
#include "report/comparison.h"
#include "report/curves.h"
#include "report/expectation.h"
#include "report/figure.h"
#include "report/heading.h"
#include "report/printed_points.h"
#include "report/roles.h"
#include "report/run.h"
#include "report/text_report.h"
#include "runs.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

using test::infinity;
using test::nan;
using test::run_of;
using test::series;

std::vector<std::string> labels(const Axis& axis) {
  std::vector<std::string> all;
  for (const Tick& tick : axis.ticks) {
    if (!tick.label.empty()) all.push_back(tick.label);
  }
  return all;
}

using Labels = std::vector<std::string>;

TEST(Axis, TicksAreNice) {
  EXPECT_EQ(labels(value_axis({0.0792, 0.6867, nan}, 6)), (Labels{"0.0", "0.2", "0.4", "0.6", "0.8"}));
  EXPECT_EQ(labels(value_axis({11, 16}, 6, true)), (Labels{"0", "5", "10", "15", "20"}));
  EXPECT_EQ(labels(value_axis({-1, 1}, 4)), (Labels{"-1.0", "-0.5", "0.0", "0.5", "1.0"}));
  EXPECT_EQ(labels(value_axis({1e-7, 1e-2}, 6)), (Labels{"10⁻⁷", "10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²"}));
  EXPECT_EQ(labels(value_axis({0.2, 30}, 6)), (Labels{"0.2", "0.5", "1", "2", "5", "10", "20"}));
  EXPECT_EQ(labels(position_axis({1, 2, 3, 10}, 10)), (Labels{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}));
  EXPECT_EQ(labels(position_axis({3840, 7680}, 4)), (Labels{"4000", "5000", "6000", "7000"}));
}

TEST(Axis, EveryRangeIsDrawable) {
  const std::vector<std::vector<double>> ranges{
      {}, {nan, infinity}, {0}, {5, 5}, {-3, -3}, {1e-320, 1}, {-1e308, 1e308}, {1e300, 1.1e300}, {1, 1 + 1e-15}};
  for (const auto& values : ranges) {
    for (const Axis& axis : {value_axis(values, 6), value_axis(values, 6, true), position_axis(values, 6)}) {
      EXPECT_LT(axis.low, axis.high);
      EXPECT_TRUE(std::isfinite(axis.low) && std::isfinite(axis.high));
      EXPECT_LE(axis.ticks.size(), 100U);
      for (const double value : values) {
        if (std::isfinite(value) && std::abs(value) < 1e300) {
          EXPECT_GE(axis.share(value), -1e-9);
          EXPECT_LE(axis.share(value), 1 + 1e-9);
        }
      }
    }
  }
}

TEST(Curves, APeakIsNotLost) {
  std::vector<double> values(100'000, 1.0);
  values[54'321] = 9;
  const Series many = series("loss", values);
  const Axis x = position_axis(many.x, 10), y = value_axis(many.y, 6);
  const auto points = points_of(many, x, y, 800, 400);
  EXPECT_LE(points.size(), 1700U);
  double least = infinity;
  for (const Point& point : points) least = std::min(least, point.y);
  EXPECT_NEAR(least, (1 - y.share(9)) * 400, 1e-9);
}

TEST(Roles, LossesAndErrorsComeFirst) {
  const std::vector<sabath::Run> runs{
      run_of({series("lr", {1}), series("loss", {1}), series("val_mae", {1}), series("epoch_time", {1})})};
  const Shown shown = choose_shown(runs, {}, 6);
  EXPECT_EQ(shown.left, (Labels{"loss", "val_mae"}));
  EXPECT_EQ(shown.right, "epoch_time");
  EXPECT_EQ(choose_shown(runs, {"lr"}, 6).left, Labels{"lr"});
  const auto one = run_of({series("loss", {1}), series("mae", {1}), series("val_loss", {1}), series("val_mae", {1})});
  EXPECT_EQ(choose_shown(std::vector{one, one}, {}, 2).left, (Labels{"loss", "val_loss"}));
  EXPECT_EQ(choose_shown(std::vector{one}, {}, 6).left.size(), 4U);
  EXPECT_THROW((void)choose_shown(runs, {"los"}, 6), Error);
}

TEST(Expectations, AreJudged) {
  const sabath::Run run = run_of({series("loss", {1, 0.25, 0.5}), series("bad", {1, nan})});
  const auto met = [&](const char* text) { return judge(parse_expectation(text), run).met; };
  EXPECT_TRUE(met("loss=0.5") && met("loss <= 0.5") && met("min(loss)<0.26") && met("max(loss)>=1") &&
              met("first(loss)==1"));
  EXPECT_TRUE(met("loss=0.45+-0.05") && met("loss=0.45±0.06") && met("min(bad)=1"));
  EXPECT_FALSE(met("loss<0.5") || met("loss=0.4+-0.05") || met("bad<1") || met("bad>=1") || met("bad=1") ||
               met("none<1"));
  for (const char* const wrong : {"", "loss", "loss<", "<1", "loss<x", "loss<nan", "loss<1+-1", "min()<1", "loss=1+-x"})
    EXPECT_THROW((void)parse_expectation(wrong), Error) << wrong;
}

TEST(Comparison, TellsDataCodeAndResultsApart) {
  const char* const document = R"({"recipe":{"name":"n","digest":"d"},"source":{"commit":"c"},
      "assets":[{"kind":"dataset","name":"u","manifest":"m"}],"environment":{"python":"3.11"}})";
  const char* const other = R"({"recipe":{"name":"n","digest":"d"},"source":{"commit":"c"},
      "assets":[{"kind":"dataset","name":"u","manifest":"m2"}],"environment":{"python":"3.12"}})";
  const sabath::Run a = run_of({series("loss", {1, 0.5}), series("epoch_time", {3, 3})}, document);
  const sabath::Run b = run_of({series("loss", {1, 0.51}), series("epoch_time", {9, 9})}, other);
  const RunComparison same = compare_runs(a, a, {}, 0);
  EXPECT_EQ(same.data, RunComparison::Sameness::same);
  EXPECT_EQ(same.code, RunComparison::Sameness::same);
  EXPECT_TRUE(same.within());
  const RunComparison found = compare_runs(a, b, {}, 0.01);
  EXPECT_EQ(found.data, RunComparison::Sameness::different);
  EXPECT_EQ(found.code, RunComparison::Sameness::same);
  ASSERT_EQ(found.environment.size(), 1U);
  EXPECT_EQ(found.environment[0].name, "python");
  ASSERT_EQ(found.metrics.size(), 1U);  // times are of the machine
  EXPECT_NEAR(found.metrics[0].greatest, 0.01 / 0.51, 1e-12);
  EXPECT_FALSE(found.within());
  const sabath::Run unverified = run_of({}, R"({"assets":[{"kind":"dataset","name":"u","manifest":"m",
      "verified_by":"not verified"}]})");
  EXPECT_EQ(compare_runs(a, unverified, {}, 1).data, RunComparison::Sameness::unknown);
  EXPECT_EQ(compare_runs(run_of({}), run_of({}), {}, 1).data, RunComparison::Sameness::unknown);
  EXPECT_FALSE(compare_runs(run_of({}), run_of({}), {}, 1).within());
}

TEST(Comparison, EpochsFromZeroAndFromOne) {
  const sabath::Run a = run_of({series("loss", {3, 2, nan}, 0)}), b = run_of({series("loss", {3, 2, nan}, 1)});
  const RunComparison found = compare_runs(a, b, {}, 0);
  EXPECT_EQ(found.metrics.at(0).common, 3U);
  EXPECT_TRUE(found.within());
  // A part of a run that was resumed is compared where both are.
  const sabath::Run late = run_of({series("loss", {2}, 2)});
  EXPECT_EQ(compare_runs(b, late, {}, 0).metrics.at(0).common, 1U);
}

TEST(LoadRun, TheLowestRankAndItsLastWordCount) {
  const test::TempDir directory;
  const auto file = directory.path() / "train.log";
  std::ofstream(file)
      << "1: epoch=1 loss=9\n0: epoch=1 loss=5\n0: epoch=1 loss=4\n2: epoch=1 loss=8\n2: epoch=2 loss=7\nFoM: 3\n";
  const sabath::Run run = load_run(file, {});
  ASSERT_EQ(run.series.size(), 1U);
  EXPECT_EQ(run.series[0].y, (std::vector<double>{4, 7}));
  EXPECT_EQ(run.metrics, 6U);
  ASSERT_EQ(run.figures.size(), 1U);
  EXPECT_EQ(run.figures[0].second, 3);
}

TEST(PrintedPoints, KeepStepsAndLists) {
  PrintedPoints points;
  const auto take = [&](std::string name, double value, std::optional<std::int64_t> step = {}, int rank = 0) {
    points.take({.time = value, .epoch = 1.0, .step = step, .rank = rank, .name = std::move(name), .value = value});
  };
  for (const double round : {0.0, 10.0}) {  // told again: the later word holds
    take("a[0]", round + 1);
    take("a[1]", round + 2);
  }
  take("a", 5, 7);
  take("a", 6, 8);
  take("a", 4, 8, 1);  // a higher rank's
  take("b[1]", 3);     // no list
  take("c[x]", 9);
  std::vector<std::string> all;
  for (const PrintedPoint& point : points.all()) {
    all.push_back(
        fmt::format("{} s{} {} {}", point.name, point.step.value_or(-1), point.is_list, fmt::join(point.values, ",")));
  }
  EXPECT_EQ(all, (std::vector<std::string>{"a s-1 true 11,12", "a s7 false 5", "a s8 false 6", "b[1] s-1 false 3",
                                           "c[x] s-1 false 9"}));
  EXPECT_EQ(points.find("a")->values, std::vector<double>{6});
  EXPECT_EQ(points.find("d"), nullptr);
}

TEST(Sparkline, ShowsHeightsAndGaps) {
  const std::vector<double> values{0, 1, 2, 3, nan, 7};
  EXPECT_EQ(sparkline(values, 10, true), "▁▂▃▄×█");
  EXPECT_EQ(sparkline(values, 10, false), "_.,-x#");
  EXPECT_EQ(sparkline(values, 3, false), "_,#");
  EXPECT_EQ(sparkline(std::vector<double>{5, 5}, 9, false), "~~");
  EXPECT_EQ(sparkline({}, 9, false), "");
  EXPECT_EQ(sparkline(std::vector<double>{-1e308, 1e308}, 9, false), "_#");
}

TEST(Figure, NamesAreHostile) {
  const std::vector<sabath::Run> runs{run_of({series("<loss onload=\"x\">&'\x01\xff", {1, 2, infinity})})};
  const std::string svg = draw_figure(runs, choose_shown(runs, {}, 6));
  EXPECT_EQ(svg.find("<loss"), std::string::npos);
  EXPECT_NE(svg.find("&lt;loss onload=&quot;x&quot;&gt;&amp;&#39;\\x01\\xff"), std::string::npos);
}

TEST(Heading, SaysWhatWhereAndWhen) {
  const auto document = [](const char* node, double started) {
    return fmt::format(R"({{"schema":1,"id":"r","state":"finished","started":{},"ranks":8,"nodes":2,
        "recipe":{{"name":"cosmoflow","version":null,"digest":"sha256:00"}},
        "assets":[{{"name":"cosmoflow","kind":"model"}},{{"name":"cosmoUniverse","kind":"dataset"}}],
        "machine":{{"node":"{}","cpu":"EPYC","accelerators":["A100, 40 GiB, 535","A100, 40 GiB, 535"]}}}})",
                       started, node);
  };
  const std::string first = document("n1", 1795810365.9), second = document("n2", 1795983165.9);
  const std::vector<sabath::Run> one{run_of({series("loss", {1})}, first.c_str())};
  EXPECT_EQ(heading_of(one).title, "cosmoflow on cosmoUniverse");
  EXPECT_EQ(heading_of(one).detail, "n1: EPYC, 2 x A100 · 8 ranks on 2 nodes · 2026-11-27");
  const std::vector<sabath::Run> two{one.front(), run_of({series("loss", {1})}, second.c_str())};
  EXPECT_EQ(heading_of(two).detail,
            "n1: EPYC, 2 x A100, n2: EPYC, 2 x A100 · 8 ranks on 2 nodes · 2026-11-27 to 2026-11-29");
  const std::vector<sabath::Run> log{run_of({series("loss", {1})})};
  EXPECT_EQ(heading_of(log).title, "a run");
  EXPECT_EQ(heading_of(log).detail, "");
  EXPECT_NE(draw_figure(one, shown_in_figure(one, {})).find("cosmoflow on cosmoUniverse"), std::string::npos);
}

TEST(Curves, OfManyRunsTheBestAreDrawn) {
  std::vector<sabath::Run> runs;
  for (int i = 0; i < 11; ++i) {
    runs.push_back(run_of({series("val_loss", {9, i < 3 ? nan : 8.0 - 0.5 * i, 9})}));
    runs.back().label = fmt::format("run {}", i);
  }
  const Curves made = style_curves(runs, shown_in_figure(runs, {}));
  ASSERT_EQ(made.curves.size(), 8U);
  EXPECT_EQ(made.runs_left_out.size(), 3U);
  EXPECT_EQ(made.left_out_by, "val_loss");
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(made.curves[i].run->label, fmt::format("run {}", i + 3));
    EXPECT_EQ(static_cast<std::size_t>(made.curves[i].marker), i);
  }
  for (sabath::Run& run : runs) run.series.front().name = "accuracy";  // the more, the better: all but the last reach 9
  runs.back().series.front().y = {1, 1, 1};
  const Curves by_score = style_curves(runs, shown_in_figure(runs, {}));
  EXPECT_EQ(by_score.curves.front().run->label, "run 0");
  EXPECT_EQ(by_score.curves.back().run->label, "run 7");
}

}  // namespace
}  // namespace sabath
