#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include "cli/show/progress_state.h"
#include "cli/show/render.h"
#include "golden.h"

namespace sabath::cli {
namespace {

// Two sources, ten seconds at 60 and 10 MB/s, 100 MB reused, of 1 GB.
ProgressState half_way() {
  ProgressState state;
  apply(state, event::AssetStarted{"cosmoUniverse_2019_05_4parE_tf_v2_mini", 1'000'000'000, 2048}, 100);
  apply(state, event::PhaseChanged{"fetch"}, 100);
  apply(state, event::SourceNamed{0, "https://portal.example/project/cosmoflow-benchmark/cosmo_v2_mini.tar"}, 100);
  apply(state, event::SourceNamed{1, "http://mirror.example/m.tar"}, 100);
  apply(state, event::BytesReused{100'000'000}, 100);
  for (int second = 1; second <= 10; ++second) {
    apply(state, event::BytesReceived{0, 60'000'000}, 100 + second);
    apply(state, event::BytesReceived{1, 10'000'000}, 100 + second);
    apply(state, event::FileDone{"x", 1}, 100 + second);
    advance(state, 100 + second);
  }
  return state;
}

std::string block(const ProgressState& state, DrawStyle style) {
  std::string text;
  for (const std::string& line : draw_block(state, style)) text += line + "|\n";
  return text;
}

TEST(ProgressDraw, AtSeveralWidths) {
  ProgressState state = half_way();
  for (const unsigned width : {40U, 80U, 200U}) {
    test::expect_golden("progress_" + std::to_string(width), block(state, {width, false, false}));
  }
  apply(state, event::SourceFailed{1, "503", true}, 110);
  test::expect_golden("progress_80_utf8", block(state, {80, true, false}));
  test::expect_golden("progress_80_color", block(state, {80, true, true}));
}

TEST(ProgressDraw, UnknownTotal) {
  ProgressState state;
  apply(state, event::AssetStarted{"one", std::nullopt, 0}, 0);
  apply(state, event::BytesReceived{0, 3'000'000}, 0);
  advance(state, 3);
  EXPECT_EQ(block(state, {80, false, false}), "one|\n3.00 MB  1.00 MB/s  3.0 s|\n");
}

// 450 of 1,000 MB are of an earlier try: they are no part of the rate, and the rest takes as long as it takes.
TEST(ProgressDraw, WhatAnEarlierTryLeftCounts) {
  ProgressState state;
  apply(state, event::AssetStarted{"one", 1'000'000'000, 0}, 0);
  apply(state, event::BytesKept{450'000'000}, 0);
  EXPECT_TRUE(draw_block(state, {80, false, false}).back().ends_with("]  45%  450 MB of 1.00 GB  -"));
  for (int second = 1; second <= 5; ++second) {
    apply(state, event::BytesReceived{0, 10'000'000}, second);
    advance(state, second);
  }
  EXPECT_NE(draw_block(state, {80, false, false}).back().find(" 50%  500 MB of 1.00 GB  10.0 MB/s  50 s left"),
            std::string::npos);
  apply(state, event::BytesKept{-450'000'000}, 5);  // it is reused for good
  apply(state, event::BytesReused{450'000'000, Reuse::partial}, 5);
  EXPECT_NE(draw_block(state, {80, false, false}).back().find(" 50%"), std::string::npos);
}

TEST(ProgressDraw, APauseIsShownWhileItLasts) {
  ProgressState state;
  apply(state, event::AssetStarted{"one", 10, 0}, 0);
  apply(state, event::HostPaused{"portal.example", 12}, 0);
  apply(state, event::HostPaused{"mirror.example", 3}, 0);
  EXPECT_EQ(draw_block(state, {80, false, false}).back(), "  waiting 12 s: portal.example asked for it, and 1 more");
  advance(state, 4);
  EXPECT_EQ(draw_block(state, {80, false, false}).back(), "  waiting 8 s: portal.example asked for it");
  EXPECT_TRUE(draw_line(state, 0).ends_with(", waiting 8 s: portal.example asked for it"));
  EXPECT_LT(display_width(draw_block(state, {30, false, false}).back()), 30U);
  advance(state, 12);
  EXPECT_EQ(draw_block(state, {80, false, false}).size(), 2U);
}

TEST(ProgressDraw, NothingYetAndNothingToDo) {
  ProgressState state;
  apply(state, event::AssetStarted{"one", 0, 0}, 0);
  EXPECT_EQ(block(state, {60, false, false}), "one|\n[=====================================] 100%  0 B of 0 B  -|\n");
  state.bytes_total = 10;
  EXPECT_EQ(block(state, {60, false, false}), "one|\n[                                    ]   0%  0 B of 10 B  -|\n");
}

TEST(ProgressDraw, NeverSaysAllBeforeAllIsThere) {
  ProgressState state;
  apply(state, event::AssetStarted{"one", 1000, 0}, 0);
  apply(state, event::BytesReceived{0, 999}, 0);
  EXPECT_NE(block(state, {80, false, false}).find(" 99%"), std::string::npos);
  apply(state, event::BytesReceived{0, 500}, 0);  // a chunk that came twice
  EXPECT_NE(block(state, {80, false, false}).find("100%"), std::string::npos);
}

TEST(ProgressDraw, NoLineIsWiderThanTheTerminal) {
  ProgressState state = half_way();
  apply(state, event::SourceNamed{2, "http://ä.example/\x1b[2J" + std::string(300, 'x')}, 100);
  for (std::uint32_t source = 3; source < 20; ++source)
    apply(state, event::SourceNamed{source, "http://m.example/"}, 100);
  for (unsigned width = 20; width < 220; ++width) {
    for (const bool utf8 : {false, true}) {
      for (const std::string& line : draw_block(state, {width, utf8, false})) {
        EXPECT_LT(display_width(line), width) << line;
        EXPECT_EQ(line.find('\x1b'), std::string::npos);
      }
    }
  }
  EXPECT_EQ(draw_block(state, {80, true, false}).size(), 9U);
  EXPECT_EQ(draw_block(state, {80, true, false}).back(), "  and 14 more sources");
}

TEST(ProgressDraw, ALogLine) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  EXPECT_EQ(
      draw_line(half_way(), 1'763'700'000),
      "2025-11-21T04:40:00+0000 cosmoUniverse_2019_05_4parE_tf_v2_mini: fetch, 80%, 800 MB of 1.00 GB, 10 of 2048 "
      "files, 70.0 MB/s, 3 s left");
}

TEST(RateMeter, FollowsAChangeWithinSeconds) {
  RateMeter meter;
  EXPECT_EQ(meter.rate(), 0);
  double bytes = 0;
  for (int i = 0; i <= 100; ++i) meter.advance(i * 0.1, static_cast<std::uint64_t>(bytes = i * 1e6));
  EXPECT_NEAR(meter.rate(), 10e6, 1e5);
  for (int i = 1; i <= 100; ++i) meter.advance(10 + i * 0.1, static_cast<std::uint64_t>(bytes));
  EXPECT_LT(meter.rate(), 1e6);
  meter.advance(5, 0);  // a clock or a counter that goes back changes nothing
  EXPECT_LT(meter.rate(), 1e6);
}

TEST(RateMeter, IsRightFromTheFirstSecond) {
  RateMeter meter;
  meter.advance(0, 0);
  meter.advance(0.1, 1'000'000);
  EXPECT_NEAR(meter.rate(), 10e6, 1);
}

TEST(ProgressState, HoldsABoundedNumberOfSources) {
  ProgressState state;
  for (std::uint32_t i = 0; i < 100'000; ++i) apply(state, event::BytesReceived{i, 1}, 0);
  EXPECT_EQ(state.received, 100'000U);
  EXPECT_LE(state.sources.size(), 4096U);
}

}  // namespace
}  // namespace sabath::cli
