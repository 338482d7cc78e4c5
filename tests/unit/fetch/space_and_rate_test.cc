// The bytes that a fetch may still write, and the rate at which it may read.
#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <vector>

#include "fetch/hosts/rate_limit.h"
#include "fetch/hosts/space_guard.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr auto uncounted = std::numeric_limits<std::uint64_t>::max();

Failure refusal(SpaceGuard& guard, std::uint64_t bytes, std::uint64_t inodes) {
  try {
    guard.reserve(bytes, inodes, "the asset");
  } catch (const Error& error) {
    return error.failure();
  }
  ADD_FAILURE() << "room for " << bytes << " bytes and " << inodes << " inodes";
  return {};
}

TEST(SpaceGuard, TheLastByteAndNoMore) {
  SpaceGuard guard({1000, 10}, "/the/store");
  guard.reserve(400, 4, "a");
  guard.reserve(600, 6, "b");
  guard.reserve(0, 0, "nothing");
  EXPECT_EQ(refusal(guard, 1, 0).kind, FailureKind::space);
  EXPECT_EQ(refusal(guard, 0, 1).kind, FailureKind::space);
  guard.give_back(5, 1);
  guard.reserve(5, 1, "c");
}

TEST(SpaceGuard, TheMessageHasTheNumbersAndTheHintAWayOut) {
  SpaceGuard guard({1'234'567, 3}, "/the/store");
  const Failure bytes = refusal(guard, 7'654'321, 1);
  for (const char* part : {"the asset", "/the/store", "7654321", "1234567", "7.65 MB", "1.23 MB"}) {
    EXPECT_NE(bytes.message.find(part), std::string::npos) << part << " in " << bytes.message;
  }
  EXPECT_NE(bytes.hint.find("\"store\""), std::string::npos);
  const Failure inodes = refusal(guard, 0, 40);
  EXPECT_NE(inodes.message.find("40 inodes"), std::string::npos) << inodes.message;
  EXPECT_NE(inodes.message.find("3 inodes are free"), std::string::npos) << inodes.message;
}

TEST(SpaceGuard, UncountedInodesAreNeverUsedUp) {
  SpaceGuard guard({10, uncounted}, "/the/store");
  guard.reserve(0, 1'000'000'000, "many");
  guard.reserve(0, uncounted, "all");
  guard.give_back(0, 17);
  guard.reserve(0, uncounted, "all again");
}

TEST(SpaceGuard, ARefusalPromisesNothing) {
  SpaceGuard guard({100, 1}, "/the/store");
  EXPECT_EQ(refusal(guard, 100, 2).kind, FailureKind::space);
  guard.reserve(100, 1, "all that was there");
}

TEST(SpaceGuard, ManyThreadsShareIt) {
  SpaceGuard guard({8000, 8000}, "/the/store");
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 1000; ++n) guard.reserve(1, 1, "x");
      });
    }
  }
  EXPECT_EQ(refusal(guard, 1, 0).kind, FailureKind::space);
}

// Of what lacks more is reserved than was asked for, of nothing else: others see what this one keeps from them.
TEST(SpaceGuard, ManySmallPromisesKeepNoRoomFromOthers) {
  const test::TempDir directory;
  const auto store = Store::open(directory / "store", true);
  SpaceGuard guard(*store, "the test", nullptr, {});
  guard.reserve(1'000'000, 1, "an archive");
  const auto other = Store::open(directory / "store", false);
  for (int n = 0; n < 300'000; ++n) guard.reserve(0, 1, "a file of it");
  EXPECT_LE(promised_by_others(*other).bytes, 20'000'000U);
  EXPECT_LE(promised_by_others(*other).inodes, 320'000U);
  EXPECT_GE(promised_by_others(*other).inodes, 300'000U);
  for (int n = 0; n < 300'000; ++n) guard.reserve(100, 0, "bytes of it");
  EXPECT_GE(promised_by_others(*other).bytes, 31'000'000U);
  EXPECT_LE(promised_by_others(*other).bytes, 70'000'000U);
}

TEST(RateLimiter, HoldsTheRateOverAllLanes) {
  RateLimiter limiter(1'000'000);
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> lanes;
    for (int i = 0; i < 4; ++i) {
      lanes.emplace_back([&] {
        for (int n = 0; n < 10; ++n) limiter.take(10'000, {});
      });
    }
  }
  EXPECT_GE(Clock::now() - begin, milliseconds(290));  // 400,000 bytes, a tenth of a second of them saved up
}

TEST(RateLimiter, ZeroIsNoLimit) {
  RateLimiter limiter(0);
  const auto begin = Clock::now();
  for (int n = 0; n < 1000; ++n) limiter.take(uncounted, {});
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30));
}

TEST(RateLimiter, AStopRequestEndsTheWait) {
  RateLimiter limiter(1);
  std::stop_source stop;
  const auto begin = Clock::now();
  std::jthread stopper([&] { stop.request_stop(); });
  limiter.take(1'000'000, stop.get_token());
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30));
  EXPECT_FALSE(sleep_unless_stopped(std::chrono::hours(1), stop.get_token()));
  EXPECT_TRUE(sleep_unless_stopped(milliseconds(1), {}));
}

}  // namespace
}  // namespace sabath
