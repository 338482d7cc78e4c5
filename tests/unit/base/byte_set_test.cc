// A set of bytes: a table, and random changes against a bitmap.
#include "base/byte_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace sabath {
namespace {

std::vector<ByteRange> ranges_of(const ByteSet& set) {
  std::vector<ByteRange> all;
  for (auto found = set.find_from(0); found; found = set.find_from(all.back().end)) all.push_back(*found);
  return all;
}

TEST(ByteSet, Table) {
  struct Case {
    std::vector<ByteRange> added, removed, left;
  };
  const std::vector<Case> cases = {
      {{}, {}, {}},
      {{{5, 5}}, {}, {}},                                        // nothing
      {{{7, 3}}, {}, {}},                                        // less than nothing
      {{{0, 4}, {4, 8}}, {}, {{0, 8}}},                          // neighbours become one
      {{{4, 8}, {0, 4}}, {}, {{0, 8}}},                          // in any order
      {{{0, 4}, {8, 12}, {4, 8}}, {}, {{0, 12}}},                // a gap is closed
      {{{0, 4}, {6, 8}}, {}, {{0, 4}, {6, 8}}},                  // a gap stays
      {{{0, 4}, {2, 6}}, {}, {{0, 6}}},                          // twice is once
      {{{2, 4}, {6, 8}, {0, 10}}, {}, {{0, 10}}},                // over others
      {{{0, 10}}, {{3, 5}}, {{0, 3}, {5, 10}}},                  // out of the middle
      {{{0, 10}}, {{0, 3}}, {{3, 10}}},                          // the begin
      {{{0, 10}}, {{7, 10}}, {{0, 7}}},                          // the end
      {{{0, 10}}, {{0, 10}}, {}},                                // all
      {{{0, 2}, {4, 6}, {8, 10}}, {{1, 9}}, {{0, 1}, {9, 10}}},  // across several
      {{{4, 6}}, {{0, 4}, {6, 9}, {5, 5}}, {{4, 6}}},            // what is not there
      {{{0, UINT64_MAX}}, {{1, UINT64_MAX - 1}}, {{0, 1}, {UINT64_MAX - 1, UINT64_MAX}}},
  };
  for (const auto& c : cases) {
    ByteSet set;
    for (const ByteRange range : c.added) set.add(range);
    for (const ByteRange range : c.removed) set.remove(range);
    std::uint64_t size = 0;
    for (const ByteRange range : c.left) size += range.size();
    EXPECT_EQ(ranges_of(set), c.left);
    EXPECT_EQ(set.size(), size);
    EXPECT_EQ(set.empty(), c.left.empty());
  }
}

TEST(ByteSet, FindsFromInsideAndAfter) {
  ByteSet set;
  set.add({10, 20});
  set.add({30, 40});
  EXPECT_EQ(set.find_from(0), (ByteRange{10, 20}));
  EXPECT_EQ(set.find_from(10), (ByteRange{10, 20}));
  EXPECT_EQ(set.find_from(19), (ByteRange{19, 20}));
  EXPECT_EQ(set.find_from(20), (ByteRange{30, 40}));
  EXPECT_EQ(set.find_from(35), (ByteRange{35, 40}));
  EXPECT_EQ(set.find_from(40), std::nullopt);
}

TEST(ByteSet, IsABitmap) {
  const char* given = std::getenv("SABATH_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::printf("SABATH_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    ByteSet set;
    std::vector<bool> naive(100);
    for (int step = 0; step < 100; ++step) {
      const std::uint64_t a = random() % 101, b = random() % 101;
      const ByteRange range{std::min(a, b), std::max(a, b)};
      const bool add = random() % 2 == 0;
      add ? set.add(range) : set.remove(range);
      for (std::uint64_t i = range.begin; i < range.end; ++i) naive[i] = add;
      ASSERT_EQ(set.size(), static_cast<std::uint64_t>(std::count(naive.begin(), naive.end(), true)));
      std::vector<bool> same(100);
      std::uint64_t before = 0;
      for (const ByteRange found : ranges_of(set)) {
        ASSERT_TRUE(found.begin < found.end && (found.begin > before || before == 0)) << "not merged";
        for (std::uint64_t i = found.begin; i < found.end; ++i) same[i] = true;
        before = found.end;
      }
      ASSERT_EQ(same, naive);
    }
  }
}

}  // namespace
}  // namespace sabath
