// The node that is named as a straggler, and after how long.
#include "stage/plan/straggler.h"

#include <gtest/gtest.h>

namespace sabath::test {
namespace {

using std::chrono::seconds;

struct Job {  // of four members, each with slack of a tenth
  std::optional<unsigned> at(int second, unsigned last, std::uint64_t share, std::uint64_t share_of_each_other) {
    return straggler.see({4, share + 3 * share_of_each_other, 4 * Straggler::all / 10, last, share},
                         Straggler::Clock::time_point(seconds(second)));
  }
  Straggler straggler;
};

constexpr std::uint64_t percent = Straggler::all / 100;

TEST(Straggler, IsNamedOnceAfterItsPatienceIsOver) {
  Job job;
  EXPECT_FALSE(job.at(0, 2, 20 * percent, 50 * percent));
  EXPECT_FALSE(job.at(9, 2, 25 * percent, 60 * percent));
  EXPECT_EQ(job.at(10, 2, 30 * percent, 70 * percent), 2U);
  EXPECT_FALSE(job.at(30, 2, 40 * percent, 90 * percent));
  EXPECT_FALSE(job.at(31, 1, 40 * percent, 90 * percent));
  EXPECT_EQ(job.at(41, 1, 40 * percent, 90 * percent), 1U);
}

TEST(Straggler, WhoIsHardlyBehindIsNotLate) {
  Job job;
  for (int second = 0; second < 60; ++second) EXPECT_FALSE(job.at(second, 2, 40 * percent, 50 * percent));
}

TEST(Straggler, WhoCatchesUpForAMomentIsForgiven) {
  Job job;
  for (int second = 0; second < 60; ++second) {
    EXPECT_FALSE(job.at(second, 2, second % 9 == 0 ? 50 * percent : 20 * percent, 50 * percent));
  }
}

TEST(Straggler, InTurnsNobodyIsLate) {
  Job job;
  for (int second = 0; second < 60; ++second) EXPECT_FALSE(job.at(second, second / 5 % 2, 20 * percent, 50 * percent));
}

TEST(Straggler, WhoIsAloneKeepsNobodyWaiting) {
  Straggler straggler;
  for (int second = 0; second < 60; ++second) {
    EXPECT_FALSE(straggler.see({1, 0, 0, 3, 0}, Straggler::Clock::time_point(seconds(second))));
    EXPECT_FALSE(straggler.see({}, Straggler::Clock::time_point(seconds(second))));
  }
}

}  // namespace
}  // namespace sabath::test
