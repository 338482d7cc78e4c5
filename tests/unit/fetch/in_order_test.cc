// Files whose chunks are not known: one lane, one stream, from any mirror.
#include <gtest/gtest.h>

#include "fetch_bench.h"

namespace sabath::test::in_order {
namespace {

const std::string a = "https://a.example/f", b = "https://b.example/f";

TEST(InOrder, EverySizeAroundAChunk) {
  FetchBench bench;
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{1}, leaf_size_bytes, leaf_size_bytes + 1, chunk_size_bytes - 1,
        chunk_size_bytes, chunk_size_bytes + 1, 2 * chunk_size_bytes, 2 * chunk_size_bytes + 1}) {
    for (const bool size_known : {true, false}) {
      bench.begin();
      const std::string bytes = bytes_of(size, size + 1);
      bench.origin.put(a, {.bytes = bytes, .size_known = size_known, .piece_size = 1'000'003});
      const auto outcome = bench.fetch(job_for({a}));
      ASSERT_FALSE(outcome.failure) << size << ": " << outcome.failure->message;
      EXPECT_EQ(outcome.tree.digest, tree_of(bytes).digest) << size;
      EXPECT_TRUE(bench.content(outcome) == bytes) << size;
      EXPECT_TRUE(bench.store->present(outcome.tree.digest)) << size;
      expect_moved_once(bench.record(a).bytes, size);
      EXPECT_EQ(bench.record(a).requests, size <= chunk_size_bytes && size_known ? 1U : 2U) << size;
      EXPECT_EQ(bench.record(a).failures, 0U);
      expect_moved_once(bench.events->received(), size);
      EXPECT_EQ(bench.events->files_done(), 1U);
      EXPECT_FALSE(bench.partials_left()) << size;
    }
  }
}

TEST(InOrder, ABrokenConnectionGoesOnWhereItBroke) {
  FetchBench bench;
  const std::string bytes = bytes_of(3 * chunk_size_bytes + 17);
  bench.origin.put(a, {.bytes = bytes, .etag = "\"1\"", .break_after = 3'000'000, .break_times = 2});
  const auto outcome = bench.fetch(job_for({a}));
  ASSERT_FALSE(outcome.failure) << outcome.failure->message;
  EXPECT_TRUE(bench.content(outcome) == bytes);
  expect_moved_once(bench.origin.sent(a), bytes.size());
  EXPECT_GE(bench.record(a).failures, 1U);
  EXPECT_EQ(bench.origin.reads(a).at(1).offset, 3'000'000U);
  EXPECT_EQ(bench.origin.reads(a).at(1).expected.etag, "\"1\"");
}

TEST(InOrder, RangesIgnoredBeginsAnewAndSucceeds) {
  FetchBench bench;
  const std::string bytes = bytes_of(chunk_size_bytes + 9);
  bench.origin.put(a, {.bytes = bytes, .ranges = false, .break_after = 1'000'000, .break_times = 1});
  const auto outcome = bench.fetch(job_for({a}));
  ASSERT_FALSE(outcome.failure) << outcome.failure->message;
  EXPECT_TRUE(bench.content(outcome) == bytes);
}

TEST(InOrder, RangesIgnoredAndAlwaysBrokenEnds) {
  FetchBench bench;
  bench.origin.put(a, {.bytes = bytes_of(300'000), .ranges = false, .break_after = 100'000, .piece_size = 10'000});
  const auto outcome = bench.fetch(job_for({a}));
  ASSERT_TRUE(outcome.failure);
  EXPECT_LT(bench.record(a).requests, 30U);
}

TEST(InOrder, ASourceThatChangesIsReadAnew) {
  FetchBench bench;
  const std::string old_bytes = bytes_of(2 * chunk_size_bytes, 1), new_bytes = bytes_of(2 * chunk_size_bytes + 5, 2);
  bench.origin.put(a, {.bytes = old_bytes,
                       .etag = "\"1\"",
                       .break_after = 3'000'000,
                       .break_times = 1,
                       .on_read = [&, reads = 0](Behaviour& now) mutable {
                         if (++reads == 2) now.bytes = new_bytes, now.etag = "\"2\"";
                       }});
  const auto outcome = bench.fetch(job_for({a}));
  ASSERT_FALSE(outcome.failure) << outcome.failure->message;
  EXPECT_TRUE(bench.content(outcome) == new_bytes);
  EXPECT_EQ(outcome.validators.etag, "\"2\"");
  EXPECT_FALSE(bench.record(a).demoted);
}

TEST(InOrder, ASourceThatChangesEachTimeEnds) {
  FetchBench bench;
  bench.origin.put(
      a, {.bytes = bytes_of(3'000'000),
          .etag = "\"0\"",
          .break_after = 1'000'000,
          .on_read = [reads = 0](Behaviour& now) mutable { now.etag = "\"" + std::to_string(++reads) + "\""; }});
  const auto outcome = bench.fetch(job_for({a}));
  ASSERT_TRUE(outcome.failure);
  EXPECT_LT(bench.record(a).requests, 40U);
}

TEST(InOrder, ADeadMirrorCostsNothingButItsRequest) {
  FetchBench bench;
  const std::string bytes = bytes_of(100'000);
  bench.origin.put(a, {.bytes = "", .refusal = Failure{FailureKind::unavailable, "404", "", {}}});
  bench.origin.put(b, {.bytes = bytes});
  const auto outcome = bench.fetch(job_for({a, b}));
  ASSERT_FALSE(outcome.failure);
  EXPECT_TRUE(bench.content(outcome) == bytes);
  EXPECT_EQ(bench.record(a).requests, 1U);
  EXPECT_EQ(bench.record(a).failures, 1U);
}

TEST(InOrder, AllMirrorsDeadTellsTheMostTellingReason) {
  FetchBench bench;
  bench.origin.put(a, {.bytes = "", .refusal = Failure{FailureKind::access, "403", "log in", {}}});
  bench.origin.put(b, {.bytes = "", .refusal = Failure{FailureKind::unavailable, "404", "", {}}});
  const auto outcome = bench.fetch(job_for({a, b}));
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->kind, FailureKind::access);
  EXPECT_EQ(outcome.failure->hint, "log in");
}

TEST(InOrder, AnUnknownSchemeIsUnavailable) {
  FetchBench bench;
  const auto outcome = bench.fetch(job_for({"none://a.example/f"}));
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->kind, FailureKind::unavailable);
}

TEST(InOrder, ALiarIsDemotedAndTheOtherBelieved) {
  for (const std::uint64_t size : {std::uint64_t{1000}, 2 * chunk_size_bytes + 1}) {
    FetchBench bench;
    const std::string bytes = bytes_of(size);
    // In what is asked of the first, and behind what is compared.
    bench.origin.put(a, {.bytes = bytes, .flip_at = std::min<std::uint64_t>(size / 3, 20'000)});
    bench.origin.put(b, {.bytes = bytes});
    const auto outcome = bench.fetch(summed_job({a, b}, bytes));
    ASSERT_FALSE(outcome.failure) << outcome.failure->message;
    EXPECT_TRUE(bench.content(outcome) == bytes);
    EXPECT_TRUE(bench.record(a).demoted);
    EXPECT_FALSE(bench.record(b).demoted);
    EXPECT_EQ(outcome.computed.sha256, summed_job({a}, bytes).checksum.sha256);
  }
}

TEST(InOrder, ALiarsBeginningDoesNotSpoilTheHonestOne) {
  FetchBench bench;
  const std::string bytes = bytes_of(2 * chunk_size_bytes + 1);
  bench.origin.put(a, {.bytes = bytes, .break_after = 3'000'000, .break_times = 1, .flip_at = 5});
  bench.origin.put(b, {.bytes = bytes});
  const auto outcome = bench.fetch(summed_job({a, b}, bytes));
  ASSERT_FALSE(outcome.failure) << outcome.failure->message;
  EXPECT_TRUE(bench.content(outcome) == bytes);
  EXPECT_FALSE(bench.record(b).demoted) << "b gave nothing wrong";
}

TEST(InOrder, OnlyALiarIsAContentFailureAndNothingIsPublished) {
  FetchBench bench;
  const std::string bytes = bytes_of(chunk_size_bytes + 1);
  bench.origin.put(a, {.bytes = bytes, .flip_at = 0});
  const auto outcome = bench.fetch(summed_job({a}, bytes));
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->kind, FailureKind::content);
  EXPECT_FALSE(bench.store->present(tree_of(bytes).digest));
  EXPECT_FALSE(bench.partials_left());
}

TEST(InOrder, WrongLengths) {
  const std::string bytes = bytes_of(50'000);
  for (const bool size_known : {true, false}) {
    for (const std::size_t length : {49'999U, 50'001U, 0U}) {
      if (!size_known && length == 0) continue;  // takes as long as the other truncation
      FetchBench bench;
      bench.origin.put(a, {.bytes = bytes_of(length), .size_known = size_known});
      const auto outcome = bench.fetch(summed_job({a}, bytes));
      ASSERT_TRUE(outcome.failure) << length;
      const bool truncated = !size_known && length < bytes.size();
      EXPECT_EQ(outcome.failure->kind, truncated ? FailureKind::network : FailureKind::content) << length;
    }
  }
}

TEST(InOrder, AWrongLengthElsewhereDoesNotThrowAwayWhatIsRight) {
  FetchBench bench;
  const std::string bytes = bytes_of(2 * chunk_size_bytes);
  bench.origin.put(a, {.bytes = bytes, .break_after = 6'000'000, .break_times = 1});
  bench.origin.put(b, {.bytes = "another file"});
  const auto outcome = bench.fetch(summed_job({a, b}, bytes));
  ASSERT_FALSE(outcome.failure) << outcome.failure->message;
  expect_moved_once(bench.origin.sent(a), bytes.size());
}

TEST(InOrder, ALoginPageIsAnAccessFailureHoweverItIsCut) {
  const std::string page = "<!doctype html><title>Log in</title><form><input type=password></form>";
  for (const std::size_t piece : {1U, 7U, 1000U}) {
    for (const char* type : {"text/html", ""}) {
      FetchBench bench;
      bench.origin.put(a, {.bytes = page, .size_known = false, .content_type = type, .piece_size = piece});
      const auto outcome = bench.fetch(job_for({a}));
      ASSERT_TRUE(outcome.failure) << piece << type;
      EXPECT_EQ(outcome.failure->kind, FailureKind::access) << piece << type;
    }
  }
}

TEST(InOrder, APageIsTakenWhereItsChecksumWasPublished) {
  const std::string page = "<!doctype html><title>data</title>";
  FetchBench bench;
  bench.origin.put(a, {.bytes = page, .content_type = "text/html"});
  for (const auto& job : {summed_job({a}, page), known_job({a}, page)}) {
    const auto outcome = bench.fetch(job);
    EXPECT_FALSE(outcome.failure) << outcome.failure->message;
  }
}

TEST(InOrder, UnchangedIsAnAnswer) {
  FetchBench bench;
  bench.origin.put(a, {.bytes = bytes_of(1000), .etag = "\"1\""});
  FileJob job = job_for({a});
  job.unless = Validators{"\"1\"", ""};
  auto outcome = bench.fetch(job);
  EXPECT_FALSE(outcome.failure);
  EXPECT_TRUE(outcome.unchanged);
  job.unless = Validators{"\"0\"", ""};
  outcome = bench.fetch(job);
  EXPECT_FALSE(outcome.unchanged);
  EXPECT_EQ(outcome.tree.digest.size_bytes, 1000U);
  job.unless = Validators{};
  bench.origin.put(a, {.bytes = bytes_of(1000)});
  EXPECT_FALSE(bench.fetch(job).unchanged) << "nothing said is no proof";
}

// --- what another process left -------------------------------------------------------------------------------------

// Runs until the origin breaks for good, after two chunks and a bit, and closes the store.
void leave_part(FetchBench& bench, const FileJob& job, const std::string& bytes) {
  bench.lanes = 1;
  bench.origin.put(a, {.bytes = bytes, .etag = "\"1\"", .on_read = [reads = 0](Behaviour& now) mutable {
                         if (++reads == 3) now.break_after = 1000;
                         if (reads > 3) now.refusal = Failure{FailureKind::unavailable, "gone", "", {}};
                       }});
  ASSERT_TRUE(bench.fetch(job).failure);
  ASSERT_TRUE(bench.partials_left());
  bench.reopen();
}

TEST(InOrder, AnEarlierFetchIsTakenUp) {
  FetchBench bench;
  const std::string bytes = bytes_of(3 * chunk_size_bytes);
  const FileJob job = job_for({a});
  leave_part(bench, job, bytes);
  bench.origin.put(a, {.bytes = bytes, .etag = "\"1\""});
  const auto sent = bench.origin.sent(a);
  const auto outcome = bench.fetch(job);
  ASSERT_FALSE(outcome.failure) << outcome.failure->message;
  EXPECT_TRUE(bench.content(outcome) == bytes);
  EXPECT_LE(bench.origin.sent(a) - sent, chunk_size_bytes);
  expect_moved_once(bench.events->reused() + bench.record(a).bytes, bytes.size());
  EXPECT_FALSE(bench.partials_left());
}

TEST(InOrder, AnEarlierFetchOfAnotherVersionIsNot) {
  FetchBench bench;
  const std::string bytes = bytes_of(3 * chunk_size_bytes), other = bytes_of(3 * chunk_size_bytes, 2);
  const FileJob job = job_for({a});
  leave_part(bench, job, bytes);
  bench.origin.put(a, {.bytes = other, .etag = "\"2\""});
  const auto outcome = bench.fetch(job);
  ASSERT_FALSE(outcome.failure) << outcome.failure->message;
  EXPECT_TRUE(bench.content(outcome) == other);
  EXPECT_EQ(bench.events->reused(), 0U) << "what was thrown away was not reused";
}

TEST(InOrder, AnEarlierLieIsFetchedAnewFromTheOnlySource) {
  FetchBench bench;
  const std::string bytes = bytes_of(3 * chunk_size_bytes);
  std::string lie = bytes;
  lie[17] ^= 1;
  const FileJob job = summed_job({a}, bytes);
  leave_part(bench, job, lie);
  bench.origin.put(a, {.bytes = bytes, .etag = "\"1\""});
  const auto outcome = bench.fetch(job);
  ASSERT_FALSE(outcome.failure) << outcome.failure->message;
  EXPECT_TRUE(bench.content(outcome) == bytes);
  EXPECT_FALSE(bench.record(a).demoted);
  EXPECT_EQ(bench.events->reused(), 0U);
}

TEST(InOrder, AnEarlierFetchFromASourceThatNeverSaysItsSizeIsTakenUpToo) {
  FetchBench bench;
  const std::string bytes = bytes_of(3 * chunk_size_bytes);
  const FileJob job = job_for({a});
  bench.origin.put(a, {.bytes = bytes,
                       .size_known = false,
                       .etag = "\"1\"",
                       .break_after = 9'000'000,
                       .on_read = [reads = 0](Behaviour& now) mutable {
                         if (++reads > 2) now.refusal = Failure{FailureKind::unavailable, "gone", "", {}};
                       }});
  ASSERT_TRUE(bench.fetch(job).failure);
  bench.reopen();
  bench.origin.put(a, {.bytes = bytes, .size_known = false, .etag = "\"1\""});
  const auto outcome = bench.fetch(job);
  ASSERT_FALSE(outcome.failure);
  EXPECT_TRUE(bench.content(outcome) == bytes);
  EXPECT_GE(bench.events->reused(), 2 * chunk_size_bytes);
}

TEST(InOrder, ForceBelievesNothing) {
  FetchBench bench;
  const std::string bytes = bytes_of(3 * chunk_size_bytes);
  const FileJob job = summed_job({a}, bytes);
  leave_part(bench, job, bytes);
  bench.origin.put(a, {.bytes = bytes});
  bench.force = true;
  EXPECT_FALSE(bench.fetch(job).failure);
  expect_moved_once(bench.record(a).bytes, bytes.size());
}

// --- what ends the whole fetch -------------------------------------------------------------------------------------

TEST(InOrder, NoRoomForAnUnknownSizeIsFatalAndSaidBeforeTheFirstByte) {
  FetchBench bench(1'000'000);
  bench.origin.put(a, {.bytes = bytes_of(1'000'001)});
  try {
    (void)bench.fetch(job_for({a}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::space);
  }
  EXPECT_FALSE(bench.partials_left());
}

TEST(InOrder, RoomIsGivenBackByAFailure) {
  FetchBench bench(1'000'000);
  bench.origin.put(a, {.bytes = bytes_of(900'000), .break_after = 1000, .on_read = [reads = 0](Behaviour& now) mutable {
                         if (++reads > 1) now.refusal = Failure{FailureKind::unavailable, "gone", "", {}};
                       }});
  ASSERT_TRUE(bench.fetch(job_for({a})).failure);
  bench.origin.put(a, {.bytes = bytes_of(900'000)});
  EXPECT_FALSE(bench.fetch(job_for({a})).failure);
}

}  // namespace
}  // namespace sabath::test::in_order
