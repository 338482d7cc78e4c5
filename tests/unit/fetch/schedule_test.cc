// The choice of the bytes that a lane reads next: single decisions, and random sequences against a bitmap.
// simulation_test.cc measures how good they are together.
#include "fetch/decide/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "whole_file.h"

namespace sabath {
namespace {

TEST(Schedule, AFileOfNoBytesIsComplete) {
  Schedule schedule = whole_file(0);
  EXPECT_TRUE(schedule.complete());
  EXPECT_FALSE(schedule.take(0, {}, 1, 0));
}

TEST(Schedule, TheUnknownTakeAChunkAndTheQuickTakeMore) {
  Schedule schedule = whole_file(1000 * chunk);
  EXPECT_EQ(range_of(*schedule.take(0, {}, 4, 0)), (ByteRange{0, chunk}));
  EXPECT_EQ(range_of(*schedule.take(0, {50e6, 0.01}, 4, 0)), (ByteRange{chunk, 17 * chunk}));
  EXPECT_LE((*schedule.take(1, {10e3, 0.01}, 4, 0))->left(), 2 * chunk);  // its part of what is left is small
}

TEST(Schedule, InOrderFromTheFrontEvenWhatComesBack) {
  Schedule schedule = whole_file(10 * chunk, true);
  const auto first = schedule.take(0, {}, 4, 0, whole_chunks);
  EXPECT_EQ(range_of(*schedule.take(1, {}, 4, 0, whole_chunks)), (ByteRange{chunk, 2 * chunk}));
  schedule.advance(*first, 100, 0.1);
  schedule.release(*first);
  EXPECT_EQ(range_of(*schedule.take(2, {}, 4, 0, whole_chunks)), (ByteRange{100, chunk}));
}

TEST(Schedule, InOrderRunsGrowWhereARequestTakesLongerThanAChunk) {
  Schedule schedule = whole_file(1000 * chunk, true);
  EXPECT_EQ((*schedule.take(0, {1e6, 0.001}, 4, 0))->left(), chunk);
  EXPECT_GT((*schedule.take(0, {60e6, 0.1}, 4, 0))->left(), 4 * chunk);
}

TEST(Schedule, SeveralWritersBeginInDifferentPlacesAndWrap) {
  Schedule schedule = whole_file(4 * chunk);
  schedule.start_at(2 * chunk);
  EXPECT_EQ(range_of(*schedule.take(0, {}, 1, 0, whole_chunks)), (ByteRange{2 * chunk, 3 * chunk}));
  EXPECT_EQ(range_of(*schedule.take(0, {}, 1, 0, whole_chunks)), (ByteRange{3 * chunk, 4 * chunk}));
  EXPECT_EQ(range_of(*schedule.take(0, {}, 1, 0, whole_chunks)), (ByteRange{0, chunk}));
}

TEST(Schedule, WhoHasProvedNothingGetsPiecesOfOneChunk) {
  Schedule schedule = whole_file(4 * chunk);
  const Schedule::Asks first{.most = chunk / 4};
  EXPECT_EQ(range_of(*schedule.take(0, {50e6, 0}, 8, 0, first)), (ByteRange{0, chunk / 4}));
  const Schedule::Asks more{.most = chunk / 4, .only = 0};
  for (std::uint64_t part = 1; part < 4; ++part) {
    EXPECT_EQ(range_of(*schedule.take(0, {50e6, 0}, 8, 0, more)),
              (ByteRange{part * chunk / 4, (part + 1) * chunk / 4}));
  }
  EXPECT_FALSE(schedule.take(0, {50e6, 0}, 8, 0, more)) << "and waits for what becomes of it";
  EXPECT_TRUE(schedule.take(1, {50e6, 0}, 8, 0));
}

TEST(Schedule, LeavesWhatAnotherProcessIsAt) {
  Schedule schedule = whole_file(4 * chunk);
  const auto taken = [](std::uint64_t i) { return i == 0 || i == 2; };
  EXPECT_EQ(range_of(*schedule.take(0, {50e6, 0}, 1, 0, {.taken = taken, .last = false})),
            (ByteRange{chunk, 2 * chunk}));
  EXPECT_EQ(range_of(*schedule.take(0, {50e6, 0}, 1, 0, {.taken = taken, .last = false})),
            (ByteRange{3 * chunk, 4 * chunk}));
  EXPECT_EQ(schedule.free_bytes(), 2 * chunk);
}

TEST(Schedule, SplitsTheLatestRunSoThatBothEndTogether) {
  Schedule schedule = whole_file(2 * chunk);
  const auto slow = schedule.take(0, {1e6, 0}, 2, 0, whole_chunks);
  const auto quick = schedule.take(1, {4e6, 0}, 2, 0, whole_chunks);
  EXPECT_FALSE(schedule.take(1, {3e6, 0}, 2, 0, {.last = false})) << "it has other things to do";
  const auto part = schedule.take(1, {3e6, 0}, 2, 0);
  ASSERT_TRUE(part);
  EXPECT_EQ((*part)->end, chunk);
  EXPECT_EQ((*slow)->end, (*part)->position);
  EXPECT_NEAR(static_cast<double>((*part)->left()), 0.75 * chunk, 1e4);
  EXPECT_EQ((*quick)->left(), chunk);
  for (const char* said : {"1000 kB/s", "3000 kB/s", "source 0"}) {
    EXPECT_NE(schedule.reason().find(said), std::string::npos) << schedule.reason();
  }
}

TEST(Schedule, DoesNotSplitForNothing) {
  struct Case {
    std::uint64_t size;
    Schedule::Speed first, second;
    bool split;
    std::size_t by = 1;
  };
  const std::vector<Case> cases = {
      {chunk, {1e6, 0}, {1e6, 0}, true},
      {chunk, {100e6, 0}, {100e6, 0}, false},  // saves 20 ms
      {chunk, {1e6, 0}, {1e6, 10}, false},     // over before the first byte would come
      {chunk, {1e6, 0.1}, {1e6, 0.1}, true},
      {chunk, {0, 0}, {0, 0}, false},  // nothing says that it is late

      {100 << 10, {1e6, 0}, {1e6, 0}, false},  // small and quick
      {100 << 10, {10e3, 0}, {1e6, 0}, true},  // small and slow
      {1, {1e6, 0}, {1e6, 0}, false},
      {chunk, {18e6, 0.02}, {18e6, 0.02}, true},      // saves 0.11 s, by another source
      {chunk, {25e6, 0}, {25e6, 0}, false},           // 0.08 s nearby
      {chunk, {18e6, 0.02}, {18e6, 0.02}, false, 0},  // by the source itself
      {chunk, {10e6, 0.02}, {10e6, 0.02}, true, 0},   // 0.2 s
  };
  for (const auto& c : cases) {
    Schedule schedule = whole_file(c.size);
    ASSERT_TRUE(schedule.take(0, c.first, 2, 0, whole_chunks));
    EXPECT_EQ(schedule.take(c.by, c.second, 2, 0).has_value(), c.split) << c.size << " bytes, " << c.first.rate;
  }
}

// Less than a chunk is a lane's part: those of one source share one, so that what is wrong has one giver.
TEST(Schedule, InTheEndgameLanesOfOneSourceShareAChunk) {
  Schedule schedule = whole_file(3 * chunk);
  const auto first = *schedule.take(0, {1e6, 0.02}, 16, 0);
  EXPECT_EQ(first->position, 0U);
  EXPECT_LT(first->left(), chunk / 4);
  const auto second = *schedule.take(0, {1e6, 0.02}, 16, 0);
  EXPECT_EQ(second->position, first->end);
  const auto other = *schedule.take(1, {1e6, 0.02}, 16, 0);
  EXPECT_EQ(other->position / chunk, 1U);
  const auto third = *schedule.take(2, {1e6, 0.02}, 16, 0);
  EXPECT_EQ(third->position / chunk, 2U);
  const auto fourth = *schedule.take(3, {1e6, 0.02}, 16, 0);
  EXPECT_EQ(fourth->position, third->end) << "nothing is left but what others are at";
}

TEST(Schedule, TheEndgamesPiecesGetSmaller) {
  constexpr unsigned lanes = 16;
  constexpr double rate = 1e6, step_s = 0.02;
  Schedule schedule = whole_file(16 * chunk);
  std::vector<std::uint64_t> pieces;
  double now = 0;
  for (; !schedule.complete(); now += step_s) {
    while (schedule.runs().size() < lanes) {
      const auto run = schedule.take(0, {rate, 0.1}, lanes, now);
      if (!run) break;
      pieces.push_back((*run)->left());
    }
    for (auto run = schedule.runs().begin(); run != schedule.runs().end();) {
      const auto at = run++;
      schedule.advance(at, static_cast<std::uint64_t>(rate * step_s), now);
      if (at->left() == 0) schedule.release(at);
    }
  }
  EXPECT_GE(pieces.front(), chunk / 4);
  EXPECT_LT(pieces.back(), 600'000U);
  EXPECT_GE(*std::ranges::min_element(pieces), 64U << 10);
  EXPECT_LT(now, 1.05 * 16 * chunk / (lanes * rate)) << "all end together";
}

TEST(Schedule, TheUnknownTakeLittleInTheEndgame) {
  Schedule schedule = whole_file(64 * chunk);
  EXPECT_LE((*schedule.take(0, {}, 64, 0))->left(), 1U << 20);
  Schedule small = whole_file(2 * chunk);
  EXPECT_EQ((*small.take(0, {}, 64, 0))->left(), chunk) << "who knows whether a request more pays";
  EXPECT_EQ((*small.take(0, {10e6, 0.001}, 64, 0))->left(), chunk) << "nearby it does not";
}

TEST(Schedule, WhatCameFromElsewhereIsPassed) {
  Schedule schedule = whole_file(3 * chunk);
  const auto run = *schedule.take(0, {1e6, 0}, 2, 0, whole_chunks);
  const auto other = *schedule.take(0, {1e6, 0}, 2, 0, whole_chunks);
  EXPECT_EQ(schedule.pass(run, {0, 1000}), (std::vector<ByteRange>{{0, 1000}}));
  EXPECT_EQ(run->position, 1000U);
  EXPECT_EQ(schedule.pass(run, {5000, 6000}), (std::vector<ByteRange>{{5000, 6000}}));
  EXPECT_EQ(range_of(run), (ByteRange{1000, 5000})) << "what is behind the gap is another request";
  EXPECT_TRUE(schedule.pass(run, {chunk + 5, chunk + 10}).empty()) << "another lane is at it";
  EXPECT_EQ(schedule.pass(run, {chunk - 10, 2 * chunk + 10}),
            (std::vector<ByteRange>{{chunk - 10, chunk}, {2 * chunk, 2 * chunk + 10}}));
  EXPECT_EQ(other->left(), chunk);
  EXPECT_EQ(schedule.free_bytes(), (chunk - 10 - 6000) + (chunk - 10));
}

// At the very end, where others have nothing to do, little is given away too: to one that is near, or quick enough.
TEST(Schedule, WhatIsLeftAtTheEndIsSharedHoweverLittleItIs) {
  struct Case {
    const char* what;
    std::uint64_t left;
    double rate, latency;  // of the lane that may help
    bool given;
  };
  for (const Case& one :
       {Case{"near", 40'000, 1e6, 0.02, true}, Case{"as far, and no quicker", 40'000, 150e3, 0.1, false},
        Case{"it is over before the helper has begun", 5000, 1e6, 0.02, false}}) {
    Schedule schedule = whole_file(chunk);
    const auto run = *schedule.take(0, {150e3, 0.06}, 2, 0, whole_chunks);
    take_the_rest(schedule);
    constexpr double heard = 10;
    schedule.advance(run, chunk - one.left, heard);
    run->rate = 150e3;
    run->mark_time = heard;
    run->mark_position = run->position;
    const auto help = schedule.take(1, {one.rate, one.latency}, 2, heard);
    ASSERT_EQ(help.has_value(), one.given) << one.what;
    if (help) {
      EXPECT_EQ((*help)->end, chunk) << one.what;
      EXPECT_EQ((*help)->position, run->end) << one.what;
      EXPECT_GT((*help)->left(), one.left / 2) << one.what;
    }
  }
}

TEST(Schedule, WhereAHashFollowsAVeryLateFrontIsSplitBeforeTheEnd) {
  for (const auto& [rate, in_order] : {std::pair{20e3, true}, {20e3, false}, {800e3, true}}) {
    Schedule schedule = whole_file(8 * chunk, in_order);
    const auto late = *schedule.take(0, {800e3, 0.1}, 8, 0);
    const std::uint64_t end = late->end;
    schedule.advance(late, 1, 0.1);
    for (double now = 0.1; now < 3; now += 0.1) {  // what it has left would take it long
      if (late->left() > 64 << 10) schedule.advance(late, static_cast<std::uint64_t>(rate * 0.1), now);
    }
    const auto next = *schedule.take(0, {800e3, 0.1}, 8, 3);
    const bool split = rate < 100e3 && in_order;
    EXPECT_EQ(schedule.split(), split) << rate << in_order;
    EXPECT_EQ(late->end < end, split);
    if (split) {
      EXPECT_EQ(next->end, end);
    }
  }
}

TEST(Schedule, AChunkThatMayNotBeSplitIsCutAtItsBounds) {
  const auto whole = [](std::uint64_t) { return true; };
  Schedule one = whole_file(chunk);
  ASSERT_EQ((*one.take(0, {1e6, 0}, 2, 0, {.whole = whole}))->left(), chunk);
  EXPECT_FALSE(one.take(1, {1e6, 0}, 2, 0, {.whole = whole}));
  Schedule many = whole_file(64 * chunk);
  const auto run = *many.take(0, {1e6, 0}, 1, 0, whole_chunks);
  ASSERT_EQ(run->left(), 16 * chunk);
  take_the_rest(many);
  const auto part = many.take(1, {1.9e6, 0}, 1, 0, {.whole = whole});
  ASSERT_TRUE(part);
  EXPECT_EQ((*part)->position % chunk, 0U);
  EXPECT_EQ(run->end, (*part)->position);
}

TEST(Schedule, AChunkToBeReadAgainIsReadFromItsBegin) {
  Schedule schedule = whole_file(2 * chunk);
  const auto first = *schedule.take(0, {1e6, 0}, 2, 0, whole_chunks);
  const auto second = *schedule.take(0, {1e6, 0}, 2, 0, whole_chunks);
  const auto part = *schedule.take(1, {1e6, 0}, 2, 0);  // the cursor is where this one ends, or in a chunk
  schedule.advance(first, first->left(), 2);
  schedule.advance(part, part->left(), 2);
  schedule.release(first);
  schedule.release(part);
  schedule.add_free({0, chunk});
  EXPECT_EQ(range_of(*schedule.take(1, {1e6, 0}, 2, 2, whole_chunks)), (ByteRange{0, chunk}));
  schedule.release(second);
}

TEST(Schedule, RatesFallWhileNothingComes) {
  Schedule schedule = whole_file(100 * chunk);
  const auto run = *schedule.take(0, {8e6, 0.1}, 1, 0);
  EXPECT_DOUBLE_EQ(schedule.rate_of(*run, 0.05), 8e6);
  schedule.advance(run, 1, 0.1);  // the wait before is not of its rate
  schedule.advance(run, 2'000'000, 1.1);
  EXPECT_NEAR(schedule.rate_of(*run, 1.1), 2e6, 1);
  EXPECT_LT(schedule.rate_of(*run, 2.2), 1e4);
}

// Each byte is free, in one run, or there: after any steps in any order.
TEST(Schedule, IsABitmap) {
  const char* given = std::getenv("SABATH_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::printf("SABATH_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    Schedule::Limits limits;
    limits.chunk_bytes = 16;
    limits.split_bytes_min = 1 + random() % 4;
    limits.in_order = random() % 2 == 0;
    const std::uint64_t size = 1 + random() % 200;
    Schedule schedule(size, limits);
    schedule.add_free({0, size});
    std::vector<bool> there(size);
    double now = 0;
    for (int step = 0; step < 3000 && !schedule.complete(); ++step) {
      now += 0.01 * static_cast<double>(random() % 100);
      auto place = schedule.runs().begin();
      if (!schedule.runs().empty()) std::advance(place, random() % schedule.runs().size());
      const std::uint64_t choice = schedule.runs().empty() ? 0 : random() % 8;
      if (choice < 3) {
        const Schedule::Speed speed{static_cast<double>(random() % 20), 0.001 * static_cast<double>(random() % 300)};
        const auto run = schedule.take(random() % 5, speed, 4, now);
        ASSERT_TRUE(!run || (*run)->position < (*run)->end);
      } else if (choice < 7) {
        const std::uint64_t from = place->position, taken = schedule.advance(place, random() % 30, now);
        for (std::uint64_t i = from; i < from + taken; ++i) {
          ASSERT_FALSE(there[i]);
          there[i] = true;
        }
        if (place->left() == 0) schedule.release(place);
      } else if (random() % 2 == 0) {
        schedule.release(place);
      } else {
        const std::uint64_t from = random() % size;
        for (const ByteRange& passed : schedule.pass(place, {from, std::min(size, from + random() % 40)})) {
          for (std::uint64_t i = passed.begin; i < passed.end; ++i) {
            ASSERT_FALSE(there[i]);
            there[i] = true;
          }
        }
        if (place->left() == 0) schedule.release(place);
      }
      std::uint64_t held = schedule.free_bytes();
      for (const auto& run : schedule.runs()) held += run.left();
      for (const bool is : there) held += is ? 1 : 0;
      ASSERT_EQ(held, size);
    }
  }
}

}  // namespace
}  // namespace sabath
