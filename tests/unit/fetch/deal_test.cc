// The files that each rank fetches.
#include "fetch/decide/deal.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sabath::test {
namespace {

constexpr std::uint64_t mib = 1 << 20;

FileJob of_size(std::optional<std::uint64_t> size, bool known = false, std::uint8_t content = 0) {
  FileJob job;
  job.size_bytes = size;
  if (known) {
    std::array<std::uint8_t, Sha256::size> hash{};
    hash[0] = content;
    job.known = FileTree{{ContentKind::file, *size, Sha256(hash)}, {}};
  }
  return job;
}

// Every job once: shared, or one rank's.
void expect_complete(const Deal& deal, std::size_t jobs) {
  std::vector<unsigned> seen(jobs);
  for (const std::size_t i : deal.shared) ++seen[i];
  for (const auto& own : deal.of_rank) {
    EXPECT_TRUE(std::ranges::is_sorted(own));
    for (const std::size_t i : own) ++seen[i];
  }
  for (const unsigned times : seen) EXPECT_EQ(times, 1U);
}

TEST(Deal, NothingAndOne) {
  const std::vector<bool> able(3, true);
  EXPECT_TRUE(deal_jobs({}, able).shared.empty());
  const Deal one = deal_jobs({of_size(100)}, able);
  EXPECT_EQ(one.of_rank[0], std::vector<std::size_t>{0});
}

TEST(Deal, ALargeKnownFileIsSharedByAll) {
  const Deal deal = deal_jobs({of_size(2048 * mib, true), of_size(1, true, 1)}, std::vector<bool>(7, true));
  EXPECT_EQ(deal.shared, std::vector<std::size_t>{0});
  expect_complete(deal, 2);
  EXPECT_TRUE(deal_jobs({of_size(2048 * mib, true)}, {true}).shared.empty()) << "one rank has nobody to share with";
  EXPECT_TRUE(deal_jobs({of_size(2048 * mib, true)}, {true, false}).shared.empty());
}

TEST(Deal, ManyFilesOfSeveralChunksAreDealt) {
  std::vector<FileJob> jobs;
  for (std::uint8_t i = 0; i < 100; ++i) jobs.push_back(of_size(20 * mib, true, i));
  const Deal deal = deal_jobs(jobs, std::vector<bool>(4, true));
  EXPECT_TRUE(deal.shared.empty());
  expect_complete(deal, jobs.size());
  for (const auto& own : deal.of_rank) EXPECT_EQ(own.size(), 25U);
}

TEST(Deal, ByBytesAndNotByNumber) {
  std::vector<FileJob> jobs{of_size(100 * mib)};
  for (int i = 0; i < 100; ++i) jobs.push_back(of_size(mib));
  const Deal deal = deal_jobs(jobs, std::vector<bool>(2, true));
  expect_complete(deal, jobs.size());
  EXPECT_LT(deal.of_rank[0].size(), 10U) << "it has the large one";
}

TEST(Deal, EqualContentGoesToOneRank) {
  std::vector<FileJob> jobs;
  for (int i = 0; i < 40; ++i) jobs.push_back(of_size(mib, true, static_cast<std::uint8_t>(i % 4)));
  const Deal deal = deal_jobs(jobs, std::vector<bool>(4, true));
  expect_complete(deal, jobs.size());
  for (const auto& own : deal.of_rank) {
    for (const std::size_t i : own) EXPECT_EQ(jobs[i].known->digest, jobs[own[0]].known->digest);
  }
}

TEST(Deal, DocumentsAndArchivesStayWithRank0) {
  std::vector<FileJob> jobs;
  for (int i = 0; i < 6; ++i) jobs.push_back(of_size(mib));
  jobs[3].inspect = [](const std::string&, const std::string&) { return true; };
  jobs[5].follower = reinterpret_cast<SpoolFollower*>(&jobs);
  const Deal deal = deal_jobs(jobs, std::vector<bool>(3, true));
  expect_complete(deal, jobs.size());
  EXPECT_EQ(deal.of_rank[0], (std::vector<std::size_t>{3, 5}));
}

TEST(Deal, ARankThatFailedGetsNothing) {
  std::vector<FileJob> jobs(30, of_size(mib));
  const Deal deal = deal_jobs(jobs, {true, false, true});
  expect_complete(deal, jobs.size());
  EXPECT_TRUE(deal.of_rank[1].empty());
  EXPECT_EQ(deal.of_rank[2].size(), 15U);
}

}  // namespace
}  // namespace sabath::test
