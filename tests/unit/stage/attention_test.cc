// How often the exchange looks, by what moves.
#include "stage/attention.h"

#include <gtest/gtest.h>

namespace sabath {
namespace {

using namespace std::chrono_literals;

// The number of looks until the next thing moves, for things that come every `gap`, once it is used to them.
int looks(Attention::Clock::duration gap) {
  Attention::Clock::time_point now{};
  Attention attention(now);
  int count = 0;
  for (int i = 0; i < 100; ++i) {
    const auto due = now + gap;
    count = 0;
    while (now < due) {
      const auto pause = attention.pause(false, now);
      EXPECT_GE(pause, Attention::shortest);
      EXPECT_LE(pause, Attention::longest);
      now += pause;
      ++count;
    }
    EXPECT_EQ(attention.pause(true, now), 0us);
  }
  return count;
}

TEST(Attention, LooksOftenOnAFastWireAndSeldomOnASlowOne) {
  EXPECT_LE(looks(200us), 7);  // all that the shortest pause allows
  EXPECT_GE(looks(200us), 6);
  EXPECT_LE(looks(5ms), 17);
  EXPECT_LE(looks(100ms), 101);
  EXPECT_LE(looks(1s), 1001);
}

TEST(Attention, SleepsLongWhereNothingMoves) {
  Attention::Clock::time_point now{};
  Attention attention(now);
  EXPECT_EQ(attention.pause(false, now), Attention::shortest);
  int count = 0;
  while (now < Attention::Clock::time_point{} + 1s) {
    now += attention.pause(false, now);
    ++count;
  }
  EXPECT_LE(count, 1100);
  EXPECT_EQ(attention.pause(false, now), Attention::longest);
  EXPECT_EQ(attention.pause(true, now), 0us);
}

}  // namespace
}  // namespace sabath
