// Runs and sources of which nothing comes: what becomes of their bytes, and who is still asked.
#include "fetch/decide/schedule.h"

#include <gtest/gtest.h>

#include "whole_file.h"

namespace sabath {
namespace {

TEST(Schedule, ASilentRunLosesAllAndItsSourceIsAskedNothing) {
  Schedule schedule = whole_file(2 * chunk);
  const auto run = *schedule.take(0, {10e6, 0.01}, 2, 0, whole_chunks);
  const auto other = *schedule.take(1, {10e6, 0.01}, 2, 0, whole_chunks);
  schedule.advance(run, 1000, 0.1);
  schedule.advance(other, 1000, 4.9);
  EXPECT_FALSE(schedule.take(0, {10e6, 0.01}, 2, 5));
  schedule.advance(other, chunk, 5);
  const auto rescue = schedule.take(1, {10e6, 0.01}, 2, 5);
  ASSERT_TRUE(rescue);
  EXPECT_EQ(range_of(*rescue), (ByteRange{1000, chunk}));
  EXPECT_EQ(run->left(), 0U);
  EXPECT_EQ(schedule.advance(run, 500, 6), 0U);  // too late: they are another's
  schedule.release(run);
  EXPECT_EQ(schedule.free_bytes(), 0U);
}

// A server that takes N connections may leave further ones without an answer, and no other source has the bytes.
TEST(Schedule, WhereNothingComesFromAnywhereOneRunIsTried) {
  constexpr Schedule::Speed speed{10e6, 0.01};
  for (const std::size_t helper : {0, 1}) {  // both silent, or one alone
    Schedule schedule = whole_file(2 * chunk);
    const auto mute = *schedule.take(0, speed, 2, 0, whole_chunks);
    const auto other = *schedule.take(1 - helper, speed, 2, 0, whole_chunks);
    const Schedule::Asks whole{.whole = [](std::uint64_t) { return true; }};
    EXPECT_FALSE(schedule.take(0, speed, 2, 0.1, whole)) << "they may yet be heard";
    EXPECT_FALSE(schedule.take(0, speed, 2, 5, {.whole = whole.whole, .dear = true})) << "a request costs much";
    const auto tried = schedule.take(0, speed, 2, 5, whole);
    ASSERT_TRUE(tried);
    EXPECT_TRUE(schedule.split());
    EXPECT_EQ((*tried)->left(), chunk);
    EXPECT_FALSE(schedule.take(0, speed, 2, 5, whole)) << "one is enough";
    schedule.advance(*tried, chunk, 5.1);
    schedule.release(*tried);
    const auto next = schedule.take(0, speed, 2, 5.1, whole);
    ASSERT_TRUE(next) << "only connections are dead";
    EXPECT_EQ((*next)->left(), chunk);
    EXPECT_EQ(mute->left() + other->left(), 0U);
  }
}

// Half of it would be lost, too, if it never comes.
TEST(Schedule, AMuteRunLosesAll) {
  constexpr Schedule::Speed speed{1e6, 0.01};
  for (const bool mute : {true, false}) {
    Schedule schedule = whole_file(2 * chunk);
    const auto quick = *schedule.take(0, speed, 2, 0, whole_chunks);
    const auto run = *schedule.take(0, speed, 2, 0, whole_chunks);
    if (!mute) schedule.advance(run, 1, 0.5);
    schedule.advance(quick, chunk, 0.5);
    schedule.release(quick);
    const auto helper = schedule.take(0, speed, 2, 0.5);
    ASSERT_TRUE(helper);
    EXPECT_EQ(run->left() == 0, mute);
    EXPECT_EQ((*helper)->end, 2 * chunk);
  }
}

TEST(Schedule, WhoIsNotAnsweredWhileOthersAreIsMute) {
  for (const std::size_t other : {0, 1}) {
    Schedule schedule = whole_file(2 * chunk);
    const auto quick = *schedule.take(0, {10e6, 0.01}, 2, 0, whole_chunks);
    const auto run = *schedule.take(other, {10e6, 0.01}, 2, 1, whole_chunks);
    EXPECT_FALSE(schedule.mute(*run, 5, 7)) << "nor is anybody else";
    schedule.advance(quick, 1000, 2);
    EXPECT_FALSE(schedule.mute(*run, 5, 3)) << "it may yet be heard";
    EXPECT_EQ(schedule.mute(*run, 5, 7), other == 0) << "of this source";
    EXPECT_FALSE(schedule.mute(*run, 10, 7));
    EXPECT_FALSE(schedule.mute(*quick, 5, 99));
    schedule.advance(run, 1, 7);
    EXPECT_FALSE(schedule.mute(*run, 5, 99));
  }
}

// The last packet of an answer is lost, and its sender does not learn it for two round trips.
TEST(Schedule, CrumbsOfWhichAPacketSeemsLostAreAskedForAgain) {
  struct Case {
    const char* what;
    std::uint64_t left;
    double silent, latency;  // the latency is that of the lane that may help
    bool given;
  };
  for (const Case& one : {Case{"soon", 2000, 0.06, 0.02, true}, Case{"a packet may yet come", 2000, 0.03, 0.02, false},
                          Case{"the helper is as far", 2000, 0.06, 0.12, false},
                          Case{"that is much to ask for twice", 40'000, 0.06, 0.02, false}}) {
    Schedule schedule = whole_file(chunk);
    const auto run = *schedule.take(0, {300e3, 0.06}, 2, 0, whole_chunks);
    take_the_rest(schedule);
    constexpr double heard = 10;
    schedule.advance(run, chunk - one.left, heard);
    const auto crumbs = schedule.take(1, {300e3, one.latency}, 2, heard + one.silent);
    ASSERT_EQ(crumbs.has_value(), one.given) << one.what;
    EXPECT_EQ(run->left(), one.given ? 0 : one.left) << one.what;
    if (crumbs) {
      EXPECT_EQ(range_of(*crumbs), (ByteRange{chunk - one.left, chunk}));
    }
  }
}

// Lanes that log in are heard late, and their source is not silent for that.
TEST(Schedule, ALoginIsNoSilence) {
  for (const double login : {0.0, 0.6}) {
    Schedule schedule = whole_file(8 * chunk);
    const Schedule::Speed speed{0, 0.05, login};
    const auto kept = *schedule.take(0, speed, 2, 0, whole_chunks);
    ASSERT_TRUE(schedule.take(0, speed, 2, 0, whole_chunks)) << "it logs in";
    schedule.advance(kept, chunk, 0.5);
    schedule.release(kept);
    EXPECT_TRUE(schedule.take(0, speed, 2, 0.6, whole_chunks));
    EXPECT_EQ(schedule.take(0, speed, 2, 0.6, whole_chunks).has_value(), login > 0) << "of a silent one, one is tried";
    EXPECT_FALSE(schedule.take(0, speed, 2, 5, whole_chunks) && schedule.take(0, speed, 2, 5, whole_chunks));
  }
}

}  // namespace
}  // namespace sabath
