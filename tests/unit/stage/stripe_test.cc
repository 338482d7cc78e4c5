// Files dealt to a node's disks, and what --to says of them.
#include "stage/plan/stripe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "comm/solo_comm.h"
#include "sabath/error.h"
#include "stage/node/target.h"

namespace sabath::test {
namespace {

using Numbers = std::vector<std::uint64_t>;
using Disks = std::vector<std::uint32_t>;

std::vector<std::uint64_t> filled(const Numbers& sizes, const Disks& disks, std::size_t count) {
  Numbers sums(count);
  for (std::size_t i = 0; i < sizes.size(); ++i) sums.at(disks[i]) += sizes[i];
  return sums;
}

TEST(Stripe, Deals) {
  const struct {
    const char* what;
    Numbers sizes, rooms;
    Disks expected;
  } table[] = {
      {"nothing", {}, {5, 5}, {}},
      {"one disk", {3, 1}, {9}, {0, 0}},
      {"one disk that is full", {3, 1}, {0}, {0, 0}},
      {"equal files in turn", {4, 4, 4, 4}, {100, 100}, {0, 1, 0, 1}},
      {"the largest first, whatever the order", {1, 2, 3, 6}, {100, 100}, {1, 1, 1, 0}},
      {"by the room that there is", {2, 2, 2, 2}, {30, 10}, {0, 0, 0, 1}},
      {"what fits on one alone goes there", {2, 9}, {8, 10}, {0, 1}},
      {"neither holds all, both do", {5, 5, 5, 5}, {11, 12}, {1, 0, 1, 0}},
      {"a full disk gets nothing", {1, 1}, {0, 10}, {1, 1}},
      {"what fits nowhere goes where least is lacking", {20}, {5, 10}, {1}},
      {"three", {3, 3, 3, 3, 3, 3}, {10, 10, 10}, {0, 1, 2, 0, 1, 2}},
  };
  for (const auto& row : table) EXPECT_EQ(stripe::deal(row.sizes, row.rooms), row.expected) << row.what;
}

TEST(Stripe, FillsEqualDisksEquallyAndNoneBeyondItsRoom) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (unsigned round = 0; round < 50; ++round) {
    Numbers sizes(200 + random() % 200), rooms(2 + random() % 3);
    for (auto& size : sizes) size = random() % 1'000'000;
    const std::uint64_t all = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    for (auto& room : rooms) room = all / rooms.size() * (100 + random() % 100) / 100 + 1'000'000;
    const auto dealt = stripe::deal(sizes, rooms);
    const auto sums = filled(sizes, dealt, rooms.size());
    for (std::size_t d = 0; d < rooms.size(); ++d) EXPECT_LE(sums[d], rooms[d]);
    EXPECT_EQ(stripe::deal(sizes, rooms), dealt);
    const auto even = filled(sizes, stripe::deal(sizes, Numbers(rooms.size(), 2 * all)), rooms.size());
    EXPECT_LE(*std::ranges::max_element(even) - *std::ranges::min_element(even), 1'000'000U);
  }
}

TEST(Target, ACommaIsBetweenDirectoriesAndTwoAreOneInAName) {
  const auto comm = make_solo_comm();
  EXPECT_EQ(expand_target("/a/{node},/b/{rank}", *comm), (Directories{"/a/0", "/b/0"}));
  EXPECT_EQ(expand_target("/a,,b", *comm), (Directories{"/a,b"}));
  EXPECT_EQ(expand_target("/a,,,/b", *comm), (Directories{"/a,", "/b"}));
  EXPECT_EQ(expand_target("/x,,,,y,,", *comm), (Directories{"/x,,y,"}));
  for (const char* wrong : {"", "/a,", ",/a", "/a,b", "a,/b", "/a,/a", "/a,/b/../a", "/a,/{x}"}) {
    EXPECT_THROW(static_cast<void>(expand_target(wrong, *comm)), Error) << wrong;
  }
}

}  // namespace
}  // namespace sabath::test
