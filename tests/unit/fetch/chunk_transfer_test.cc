// Files whose chunks are known: many lanes, many mirrors, what others left, and what each of them may do wrong.
#include <gtest/gtest.h>

#include <thread>

#include "fetch_bench.h"

namespace sabath::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
const std::string a = "https://a.example/f", b = "https://b.example/f", c = "https://c.example/f";
constexpr std::uint64_t chunk = chunk_size_bytes;

void expect_whole(FetchBench& bench, const FileOutcome& outcome, const std::string& bytes) {
  ASSERT_FALSE(outcome.failure) << outcome.failure->message;
  EXPECT_TRUE(bench.content(outcome) == bytes);
  EXPECT_TRUE(bench.store->present(tree_of(bytes).digest));
  EXPECT_FALSE(bench.partials_left());
}

TEST(ChunkTransfer, EachByteOnce) {
  const std::string bytes = bytes_of(9 * chunk + 1);
  for (const unsigned lanes : {1U, 3U, 8U}) {
    FetchBench bench;
    bench.lanes = lanes;
    bench.origin.put(a, {.bytes = bytes, .piece_size = 300'007});
    expect_whole(bench, bench.fetch(known_job({a}, bytes)), bytes);
    expect_moved_once(bench.record(a).bytes, bytes.size());
    EXPECT_EQ(bench.events->received(), bench.record(a).bytes);
    EXPECT_EQ(bench.events->files_done(), 1U);
    EXPECT_EQ(bench.record(a).failures, 0U);
  }
}

TEST(ChunkTransfer, EverySizeAroundAChunk) {
  FetchBench bench;
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{1}, chunk - 1, chunk, chunk + 1, 2 * chunk, 2 * chunk + 1}) {
    bench.begin();
    const std::string bytes = bytes_of(size, size + 1);
    bench.origin.put(a, {.bytes = bytes});
    expect_whole(bench, bench.fetch(known_job({a}, bytes)), bytes);
    expect_moved_once(bench.record(a).bytes, size);
  }
}

TEST(ChunkTransfer, AMirrorThatLiesInOneChunkIsDemotedAndTheRestCompletes) {
  FetchBench bench;
  const std::string bytes = bytes_of(12 * chunk);
  bench.origin.put(a, {.bytes = bytes, .flip_at = 5 * chunk + 77});
  bench.origin.put(b, {.bytes = bytes, .pause = milliseconds(1)});
  expect_whole(bench, bench.fetch(known_job({a, b}, bytes)), bytes);
  EXPECT_FALSE(bench.record(b).demoted);
}

TEST(ChunkTransfer, OnlyALiarIsAContentFailure) {
  FetchBench bench;
  const std::string bytes = bytes_of(6 * chunk);
  bench.origin.put(a, {.bytes = bytes, .flip_at = 3 * chunk});
  const auto outcome = bench.fetch(known_job({a}, bytes));
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->kind, FailureKind::content);
  EXPECT_NE(outcome.failure->message.find("chunk 3"), std::string::npos) << outcome.failure->message;
  EXPECT_TRUE(bench.record(a).demoted);
  EXPECT_FALSE(bench.store->present(tree_of(bytes).digest));

  bench.reopen();  // what was right is kept, and the next source has little to give
  bench.origin.put(b, {.bytes = bytes});
  expect_whole(bench, bench.fetch(known_job({b}, bytes)), bytes);
  EXPECT_LT(bench.record(b).bytes, bytes.size());
  expect_moved_once(bench.record(b).bytes + bench.events->reused(), bytes.size());
}

TEST(ChunkTransfer, AWrongLengthIsHardlyRead) {
  FetchBench bench;
  const std::string bytes = bytes_of(3 * chunk);
  bench.origin.put(a, {.bytes = bytes_of(3 * chunk + 1)});
  const auto outcome = bench.fetch(known_job({a}, bytes));
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->kind, FailureKind::content);
  EXPECT_LE(bench.record(a).bytes, 1U << 20) << "no more than shows that it is no page";
}

TEST(ChunkTransfer, ConnectionsThatBreakWithinAChunkLoseNothing) {
  FetchBench bench;
  const std::string bytes = bytes_of(5 * chunk + 5);
  bench.origin.put(a, {.bytes = bytes, .break_after = 1'500'000, .piece_size = 100'000});
  expect_whole(bench, bench.fetch(known_job({a}, bytes)), bytes);
  expect_moved_once(bench.record(a).bytes, bytes.size());
}

// A part of a chunk is there when its request breaks off, and by then another process has fetched and published all:
// no lane waits for the rest of that chunk.
TEST(ChunkTransfer, APartOfAChunkThatAnotherHasPublishedSince) {
  FetchBench bench;
  bench.lanes = 1;
  const std::string bytes = bytes_of(2 * chunk);
  const auto publish_all = [&, once = true](Behaviour&) mutable {
    if (!std::exchange(once, false)) return;
    const FileTree tree = tree_of(bytes);
    const auto other = Store::open(bench.directory / "store", true);
    const auto partial = other->open_partial(tree.digest, tree.chunks);
    for (std::uint64_t i = 0; i < tree.chunks.size(); ++i) {
      partial->write_chunk(0, i, std::as_bytes(std::span(bytes)).subspan(i * chunk, chunk), tree.chunks[i]);
    }
    static_cast<void>(partial->publish());
  };
  bench.origin.put(
      a, {.bytes = bytes, .break_after = 1'500'000, .break_times = 1, .piece_size = 100'000, .on_read = publish_all});
  expect_whole(bench, bench.fetch(known_job({a}, bytes)), bytes);
}

TEST(ChunkTransfer, ALiarsHalfChunkIsNotHeldAgainstTheHonestOne) {
  FetchBench bench;
  bench.lanes = 1;
  const std::string bytes = bytes_of(2 * chunk);
  bench.origin.put(a, {.bytes = bytes, .break_after = 1'000'000, .break_times = 1, .flip_at = 5});
  bench.origin.put(b, {.bytes = bytes});
  expect_whole(bench, bench.fetch(known_job({a, b}, bytes)), bytes);
  EXPECT_FALSE(bench.record(b).demoted);
}

TEST(ChunkTransfer, AHiccupOfTheServerIsSurvivedByManyLanes) {
  FetchBench bench;
  bench.lanes = 16;
  const std::string bytes = bytes_of(12 * chunk);
  const auto begin = Clock::now();
  bench.origin.put(a,
                   {.bytes = bytes, .pause = milliseconds(2), .on_read = [&, reads = 0](Behaviour& now) mutable {
                      const bool down = ++reads > 8 && Clock::now() - begin < milliseconds(600);
                      now.refusal = down ? std::optional(Failure{FailureKind::network, "503", "", {}}) : std::nullopt;
                    }});
  expect_whole(bench, bench.fetch(known_job({a}, bytes)), bytes);
}

TEST(ChunkTransfer, ACrowdedMirrorIsNotADeadOne) {
  FetchBench bench;
  bench.lanes = 8;
  const std::string bytes = bytes_of(8 * chunk);
  auto reading = std::make_shared<std::atomic<int>>(0);
  bench.origin.put(a,
                   {.bytes = bytes, .pause = milliseconds(30), .on_read = [reading](Behaviour& now) {
                      const bool busy = reading->fetch_add(1) % 4 != 0;
                      now.refusal = busy ? std::optional(Failure{FailureKind::network, "429", "", {}}) : std::nullopt;
                    }});
  expect_whole(bench, bench.fetch(known_job({a}, bytes)), bytes);
}

TEST(ChunkTransfer, NoMirrorHonoursRanges) {
  for (const unsigned lanes : {1U, 8U}) {
    FetchBench bench;
    bench.lanes = lanes;
    const std::string bytes = bytes_of(10 * chunk + 3);
    bench.origin.put(a, {.bytes = bytes, .ranges = false, .pause = milliseconds(1)});
    expect_whole(bench, bench.fetch(known_job({a}, bytes)), bytes);
  }
}

TEST(ChunkTransfer, NoRangesAndOneBreak) {
  FetchBench bench;
  bench.lanes = 8;
  const std::string bytes = bytes_of(6 * chunk);
  bench.origin.put(a, {.bytes = bytes, .ranges = false, .break_after = 5 * chunk, .break_times = 3});
  expect_whole(bench, bench.fetch(known_job({a}, bytes)), bytes);
}

TEST(ChunkTransfer, WhoHonoursRangesIsPreferredToWhoDoesNot) {
  FetchBench bench;
  const std::string bytes = bytes_of(10 * chunk);
  bench.origin.put(a, {.bytes = bytes, .ranges = false});
  bench.origin.put(b, {.bytes = bytes});
  expect_whole(bench, bench.fetch(known_job({a, b}, bytes)), bytes);
  EXPECT_LT(bench.record(a).bytes, bytes.size());
}

TEST(ChunkTransfer, AMirrorThatDiesForGoodInTheMiddle) {
  FetchBench bench;
  const std::string bytes = bytes_of(16 * chunk);
  bench.origin.put(a, {.bytes = bytes, .on_read = [reads = 0](Behaviour& now) mutable {
                         if (++reads > 2) now.refusal = Failure{FailureKind::unavailable, "410", "", {}};
                       }});
  bench.origin.put(b, {.bytes = bytes});
  expect_whole(bench, bench.fetch(known_job({a, b}, bytes)), bytes);
  expect_moved_once(bench.record(a).bytes + bench.record(b).bytes, bytes.size());
}

TEST(ChunkTransfer, ASlowMirrorDoesNotHoldTheEnd) {
  FetchBench bench;
  bench.lanes = 4;
  const std::string bytes = bytes_of(12 * chunk);
  bench.origin.put(a, {.bytes = bytes, .piece_size = 10'000, .pause = milliseconds(300)});  // two minutes a chunk
  bench.origin.put(b, {.bytes = bytes});
  const auto begin = Clock::now();
  expect_whole(bench, bench.fetch(known_job({a, b}, bytes)), bytes);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(100));
}

TEST(ChunkTransfer, WhatADeadProcessLeftIsNotFetchedAgain) {
  FetchBench bench;
  const std::string bytes = bytes_of(8 * chunk + 1);
  bench.lanes = 2;
  bench.origin.put(a, {.bytes = bytes, .on_read = [reads = 0](Behaviour& now) mutable {
                         if (++reads > 5) now.refusal = Failure{FailureKind::unavailable, "gone", "", {}};
                       }});
  ASSERT_TRUE(bench.fetch(known_job({a}, bytes)).failure);
  const std::uint64_t before = bench.record(a).bytes;
  ASSERT_GT(before, chunk);
  bench.reopen();
  bench.origin.put(b, {.bytes = bytes});
  expect_whole(bench, bench.fetch(known_job({b}, bytes)), bytes);
  expect_moved_once(bench.record(b).bytes + bench.events->reused(), bytes.size());
  EXPECT_LE(bench.record(b).bytes, bytes.size() - before / chunk * chunk + chunk);
}

TEST(ChunkTransfer, ForceReadsWhatIsThereAndMendsIt) {
  FetchBench bench;
  const std::string bytes = bytes_of(3 * chunk);
  bench.origin.put(a, {.bytes = bytes});
  const auto job = known_job({a}, bytes);
  expect_whole(bench, bench.fetch(job), bytes);

  // Rot that no record shows: the file's times are put back.
  const auto object = bench.store->object_path(job.known->digest);
  rot(object, 5);
  bench.begin();
  bench.force = true;
  expect_whole(bench, bench.fetch(job), bytes);
  expect_moved_once(bench.record(a).bytes, bytes.size());
}

TEST(ChunkTransfer, TheSameContentTwiceIsFetchedOnce) {
  FetchBench bench;
  const std::string bytes = bytes_of(5 * chunk);
  bench.origin.put(a, {.bytes = bytes});
  bench.origin.put(b, {.bytes = bytes});
  const auto outcomes = bench.fetch(std::vector{known_job({a}, bytes), known_job({b}, bytes), known_job({a}, bytes)});
  for (const auto& outcome : outcomes) expect_whole(bench, outcome, bytes);
  expect_moved_once(bench.events->received(), bytes.size());
  EXPECT_EQ(bench.events->reused(), 2 * bytes.size());
  EXPECT_EQ(bench.events->files_done(), 3U);
}

TEST(ChunkTransfer, TheSameContentTwiceIsHadWhereEitherHasIt) {
  FetchBench bench;
  const std::string bytes = bytes_of(2 * chunk);
  bench.origin.put(b, {.bytes = bytes});
  const auto outcomes = bench.fetch(std::vector{known_job({a}, bytes), known_job({b}, bytes)});
  EXPECT_TRUE(outcomes.at(0).failure);
  expect_whole(bench, outcomes.at(1), bytes);
}

TEST(ChunkTransfer, ChunksThatAreNotWantedAreLeftToOthers) {
  FetchBench bench;
  const std::string bytes = bytes_of(9 * chunk + 1);
  const FileJob job = known_job({a}, bytes);
  bench.origin.put(a, {.bytes = bytes});
  WantedChunks wanted{{job.known->digest, std::vector<bool>(10)}};
  for (const std::size_t i : {2, 3, 9}) wanted.at(job.known->digest)[i] = true;
  const auto other = Store::open(bench.directory / "store", false);
  Hosts hosts(4);
  FetchContext part{
      .store = *other,
      .fetchers = bench.origin,
      .events = *bench.events,
      .ledger = *bench.ledger,
      .space = bench.space,
      .limiter = bench.limiter,
      .hosts = hosts,
      .rewrites = bench.rewrites,
      .lanes = 4,
      .force = false,
      .stop = {},
      .wanted = &wanted,
  };
  EXPECT_FALSE(fetch_all(part, {job}).front().failure);
  expect_moved_once(bench.origin.sent(a), 2 * chunk + 1);
  EXPECT_FALSE(bench.store->present(job.known->digest));
  expect_whole(bench, bench.fetch(job), bytes);
  expect_moved_once(bench.origin.sent(a), bytes.size());
}

TEST(ChunkTransfer, TwoStoresOfOneDirectoryShareTheWork) {
  FetchBench bench;
  const std::string bytes = bytes_of(24 * chunk);
  bench.origin.put(a, {.bytes = bytes, .pause = milliseconds(25)});
  const auto other = Store::open(bench.directory / "store", false);
  EventLog events;
  Ledger ledger(events);
  Hosts hosts(4);
  FetchContext second{
      .store = *other,
      .fetchers = bench.origin,
      .events = events,
      .ledger = ledger,
      .space = bench.space,
      .limiter = bench.limiter,
      .hosts = hosts,
      .rewrites = bench.rewrites,
      .lanes = 4,
      .force = false,
      .stop = {},
  };
  FileOutcome theirs;
  std::jthread thread([&] { theirs = fetch_all(second, {known_job({a}, bytes)}).front(); });
  const auto ours = bench.fetch(known_job({a}, bytes));
  thread.join();
  expect_whole(bench, ours, bytes);
  expect_whole(bench, theirs, bytes);
  EXPECT_LT(bench.origin.sent(a), bytes.size() * 7 / 4) << "the work was shared";
}

}  // namespace
}  // namespace sabath::test
