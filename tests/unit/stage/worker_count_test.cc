// The number of workers, with models of their work.
#include "stage/node/worker_count.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>

namespace sabath {
namespace {

using TaskSeconds = std::function<double(unsigned at_once)>;

// The share of the second half of `tasks` in which `wanted` workers were at work.
double share_of(WorkerCount& count, const TaskSeconds& task, unsigned wanted, std::uint64_t seed, int tasks = 20'000) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> noise(0.9, 1.1);
  int as_wanted = 0;
  for (int i = 0; i < tasks; ++i) {
    if (i >= tasks / 2 && count.now() == wanted) ++as_wanted;
    count.note(task(count.now()) * noise(random));
  }
  return 2.0 * as_wanted / tasks;
}

TEST(WorkerCount, AllWhereEachWaitsForItself) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    WorkerCount count(8);
    EXPECT_GT(share_of(
                  count, [](unsigned) { return 0.005; }, 8, seed),
              0.9)
        << seed;
  }
}

TEST(WorkerCount, TwoWhereTheyWaitForEachOther) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    WorkerCount count(16);
    EXPECT_GT(share_of(
                  count, [](unsigned at_once) { return 0.001 * at_once * (1 + 0.02 * at_once); }, 2, seed),
              0.9)
        << seed;
  }
}

TEST(WorkerCount, AsManyAsThereIsRoomFor) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    WorkerCount count(16);
    EXPECT_GT(share_of(
                  count, [](unsigned at_once) { return 0.002 * std::max(1.0, at_once / 4.0); }, 4, seed),
              0.8)
        << seed;
  }
}

TEST(WorkerCount, FollowsWhatChanges) {
  WorkerCount count(8);
  const auto alone = [](unsigned) { return 0.005; };
  const auto together = [](unsigned at_once) { return 0.005 * at_once; };
  EXPECT_GT(share_of(count, alone, 8, 1), 0.9);
  EXPECT_GT(share_of(count, together, 2, 2), 0.8);
  EXPECT_GT(share_of(count, alone, 8, 3), 0.8);
}

TEST(WorkerCount, NeverMoreThanThereAre) {
  for (unsigned most = 1; most <= 9; ++most) {
    WorkerCount count(most);
    int all = 0;
    for (int i = 0; i < 5'000; ++i) {
      ASSERT_GE(count.now(), 1U);
      ASSERT_LE(count.now(), most);
      if (count.now() == most) ++all;
      count.note(0.004);
    }
    EXPECT_GT(all, 4'000) << most;
  }
}

}  // namespace
}  // namespace sabath
