// An archive is read while it is fetched: the reader never sees a byte that is not there, nor a partial that is gone.
#include "fetch/transfer/spool.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/hash.h"
#include "fetch_bench.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

const std::string spool_a = "https://a.example/f", spool_b = "https://b.example/f";

// All that the follower gives, or the kind of failure that ended it; begins anew as long as it is told to.
struct Read {
  std::string bytes;
  std::optional<FailureKind> failure;
  unsigned restarts = 0;
};

Read read_all(SpoolFollower& follower, std::size_t piece = 100'003) {
  Read read;
  std::vector<std::byte> buffer(piece);
  for (;;) {
    try {
      const std::size_t n = follower.read(read.bytes.size(), buffer);
      if (n == 0) return read;
      read.bytes.append(reinterpret_cast<const char*>(buffer.data()), n);
    } catch (const Error& error) {
      if (error.failure().kind != FailureKind::changed) {
        read.failure = error.failure().kind;
        return read;
      }
      ++read.restarts;
      read.bytes.clear();
      follower.begin();
    }
  }
}

struct Followed {
  FileOutcome outcome;
  Read read;
};

Followed follow(FetchBench& bench, FileJob job, SpoolFollower& follower) {
  Followed result;
  job.follower = &follower;
  std::jthread reader([&] { result.read = read_all(follower); });
  result.outcome = bench.fetch(job);
  return result;
}

TEST(Spool, TheReaderGetsEveryByteOfEverySize) {
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{5}, chunk_size_bytes, 3 * chunk_size_bytes + 1}) {
    FetchBench bench;
    const std::string bytes = seeded_bytes(1, 0, size);
    bench.origin.put(spool_a, {.bytes = bytes, .piece_size = 70'001});
    SpoolFollower follower;
    const auto [outcome, read] = follow(bench, job_for({spool_a}), follower);
    EXPECT_FALSE(outcome.failure);
    EXPECT_FALSE(read.failure);
    EXPECT_TRUE(read.bytes == bytes) << size;
    auto spool = follower.take();
    ASSERT_TRUE(spool);
    EXPECT_EQ(spool->front(), size);
    spool->discard();
    spool.reset();
    EXPECT_FALSE(bench.partials_left());
    EXPECT_FALSE(bench.store->present(tree_of(bytes).digest)) << "a spool is not published by itself";
  }
}

TEST(Spool, AReaderOfAnArchiveThatDoesNotArriveIsTold) {
  for (int round = 0; round < 6; ++round) {
    FetchBench bench;
    bench.origin.put(spool_a, {.bytes = seeded_bytes(1, 0, 2 * chunk_size_bytes),
                               .break_after = chunk_size_bytes + 10,
                               .on_read = [reads = 0](Behaviour& now) mutable {
                                 if (++reads > 1) now.refusal = Failure{FailureKind::unavailable, "gone", "", {}};
                               }});
    SpoolFollower follower;
    const auto [outcome, read] = follow(bench, job_for({spool_a}), follower);
    EXPECT_TRUE(outcome.failure);
    EXPECT_EQ(read.failure, FailureKind::interrupted);
    EXPECT_FALSE(follower.take());
  }
}

TEST(Spool, AReaderBeginsAnewWithAnotherVersion) {
  FetchBench bench;
  const std::string before = seeded_bytes(1, 0, 3 * chunk_size_bytes), after = seeded_bytes(2, 0, 3 * chunk_size_bytes);
  bench.origin.put(spool_a, {.bytes = before,
                             .etag = "\"1\"",
                             .break_after = 2 * chunk_size_bytes + 10,
                             .break_times = 1,
                             .on_read = [&, reads = 0](Behaviour& now) mutable {
                               if (++reads == 2) now.bytes = after, now.etag = "\"2\"";
                             }});
  SpoolFollower follower;
  const auto [outcome, read] = follow(bench, job_for({spool_a}), follower);
  EXPECT_FALSE(outcome.failure);
  EXPECT_TRUE(read.bytes == after);
  EXPECT_LE(read.restarts, 1U);
}

TEST(Spool, AReaderOfALieBeginsAnewWithTheTruth) {
  FetchBench bench;
  const std::string bytes = seeded_bytes(1, 0, 2 * chunk_size_bytes + 1);
  bench.origin.put(spool_a, {.bytes = bytes, .flip_at = 99});
  bench.origin.put(spool_b, {.bytes = bytes});
  SpoolFollower follower;
  const auto [outcome, read] = follow(bench, summed_job({spool_a, spool_b}, bytes), follower);
  EXPECT_FALSE(outcome.failure);
  EXPECT_TRUE(read.bytes == bytes);
  EXPECT_TRUE(bench.record(spool_a).demoted);
}

TEST(Spool, AnAbandonedReaderDoesNotWait) {
  SpoolFollower follower;
  Read read;
  std::jthread reader([&] { read = read_all(follower); });
  follower.abandon();
  reader.join();
  EXPECT_EQ(read.failure, FailureKind::interrupted);
}

}  // namespace
}  // namespace sabath::test
