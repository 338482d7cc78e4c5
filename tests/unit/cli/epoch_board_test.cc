// A run's epochs as users see them, with a clock and a terminal of the test's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "cli/show/epoch_board.h"

namespace sabath::cli {
namespace {

class Screen {
 public:
  explicit Screen(BoardStyle style)
      : board(
            style, [this] { return now_s; }, [this] { return width; },
            [this](std::string_view text) { shown += text; }) {}

  void say(double epoch, const std::string& name, double value, std::optional<int> rank = {},
           std::optional<std::int64_t> step = {}) {
    Metric metric;
    metric.epoch = epoch;
    metric.name = name;
    metric.value = value;
    metric.rank = rank;
    metric.step = step;
    board.on(metric);
  }
  std::string take() { return std::exchange(shown, {}); }

  double now_s = 100;
  unsigned width = 80;
  std::string shown;
  EpochBoard board;
};

TEST(EpochBoard, SaysALineForEachEpochAsItEnds) {
  Screen screen({false, false, false, 3});
  screen.now_s = 102;
  screen.say(1, "loss", 0.5);
  screen.say(1, "val_loss", 0.75);
  EXPECT_EQ(screen.take(), "");  // the values of an epoch are not known yet
  screen.now_s = 106;
  screen.say(2, "loss", 0.25);
  EXPECT_EQ(screen.take(), "epoch 1/3  loss 0.5  val_loss 0.75  2.0 s  ETA 4.0 s\n");
  screen.say(2, "val_loss", 0.5);
  EXPECT_EQ(screen.take(), "epoch 2/3  loss 0.25  val_loss 0.5  4.0 s  ETA 3.0 s\n");  // at once
  screen.now_s = 107;
  screen.say(3, "loss", 0.125);
  screen.board.tick();
  EXPECT_EQ(screen.take(), "");
  screen.board.finish();
  EXPECT_EQ(screen.take(), "epoch 3/3  loss 0.125  1.0 s\n");
  screen.board.finish();
  EXPECT_EQ(screen.take(), "");
  EXPECT_EQ(screen.board.epochs(), 3u);
}

TEST(EpochBoard, DrawsTheCourseAndWhatGoesOnOnATerminal) {
  Screen screen({true, true, false, {}});
  screen.board.tick();
  EXPECT_EQ(screen.take(), "\r\x1b[Krunning  0 ms");
  for (int epoch = 0; epoch < 4; ++epoch) {
    screen.now_s += 1;
    screen.say(epoch, "loss", 1 - 0.25 * epoch);
  }
  EXPECT_NE(screen.take().find("█"), std::string::npos);
  screen.now_s += 0.5;
  screen.board.tick();
  screen.width = 20;
  screen.say(9, "a_name_that_is_much_longer_than_the_terminal", 1);
  screen.say(10, "loss", 1);
  for (std::size_t at = 0, end = 0; at < screen.shown.size(); at = end + 1) {
    end = std::min(screen.shown.find('\n', at), screen.shown.size());
    EXPECT_LE(end - at, 200u);
  }
}

// The time left and the course of the values stay on a narrow terminal.
TEST(EpochBoard, KeepsTheEtaAndTheCourseWhereThereIsLittleRoom) {
  for (const auto& [width, values, course] : {std::tuple{200u, 4, true}, {80u, 2, true}, {48u, 1, false}}) {
    Screen screen({true, true, false, 100});
    screen.width = width;
    for (int epoch = 1; epoch <= 40; ++epoch) {
      screen.now_s += 1;
      for (const char* name : {"loss", "val_loss", "mae", "val_mae"}) screen.say(epoch, name, 0.12345 / epoch);
    }
    std::string line = screen.shown.substr(screen.shown.rfind("epoch 39/100"));
    line.resize(line.find('\n'));
    EXPECT_NE(line.find("  ETA "), std::string::npos) << line;
    EXPECT_EQ(line.find("█") != std::string::npos, course) << line;
    EXPECT_EQ(std::ranges::count(line, '.') >= values, true) << line;
    EXPECT_EQ(line.find("val_mae") != std::string::npos, values == 4) << line;
    EXPECT_EQ(line.find("…"), std::string::npos) << line;
    const auto bytes_more = std::ranges::count_if(line, [](char c) { return (c & 0xc0) == 0x80; });
    EXPECT_LE(line.size() - static_cast<std::size_t>(bytes_more), width - 1) << line;
  }
}

TEST(EpochBoard, ShowsOneRankAndTheLastOfManySteps) {
  Screen screen({});
  for (int step = 0; step < 100; ++step) screen.say(1, "loss", step, 0, step);
  screen.say(1, "loss", -1, 1, 0);
  screen.say(2, "loss", 7, 0, 0);
  EXPECT_EQ(screen.take(), "epoch 1  loss 99  0 ms\n");
  screen.say(2, "loss", 8, 0, 1);  // a step's value may still change
  EXPECT_EQ(screen.take(), "");
}

TEST(EpochBoard, BearsWhateverAProgramPrints) {
  Screen screen({true, true, false, 1});
  for (const double value : {std::nan(""), 1e308, -1e308, double(INFINITY), 0.0}) {
    for (const double epoch : {0.0, -1.0, 1e300, std::nan(""), double(INFINITY)}) {
      screen.say(epoch, "\x1b[31mloss\n", value);
      screen.say(epoch, "val", value);
    }
  }
  for (int name = 0; name < 1000; ++name) screen.say(5, std::to_string(name), 1);
  screen.board.finish();
  EXPECT_EQ(screen.shown.find("\x1b[31m"), std::string::npos);
  EXPECT_LT(screen.shown.size(), 20000u);
}

TEST(EpochBoard, IsQuietWhenAsked) {
  Screen screen({true, true, true, {}});
  screen.say(1, "loss", 1);
  screen.board.tick();
  screen.say(2, "loss", 1);
  screen.board.finish();
  EXPECT_EQ(screen.take(), "");
  EXPECT_EQ(screen.board.epochs(), 2u);
}

}  // namespace
}  // namespace sabath::cli
