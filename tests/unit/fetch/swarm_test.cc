// The lanes together: many files of every kind, and what ends them all.
#include "fetch/transfer/swarm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "fetch_bench.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::string file_url(int i, const char* host = "a") {
  return "https://" + std::string(host) + ".example/" + std::to_string(i);
}

// Runs the fetch until it is stopped from another thread, and returns how long it took from there.
template <typename Fetch>
std::chrono::nanoseconds time_to_stop(FetchBench& bench, const Fetch& fetch) {
  Clock::time_point stopped;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(milliseconds(150));  // it is under way, or it is not: both must end
    stopped = Clock::now();
    bench.stop.request_stop();
  });
  try {
    fetch();
    ADD_FAILURE() << "it was not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::interrupted) << error.failure().message;
  }
  stopper.join();
  return Clock::now() - stopped;
}

TEST(Swarm, NothingToDo) {
  FetchBench bench;
  EXPECT_TRUE(bench.fetch(std::vector<FileJob>{}).empty());
}

TEST(Swarm, FiveHundredTinyFilesInTheirOrder) {
  FetchBench bench;
  bench.lanes = 8;
  std::vector<FileJob> jobs;
  for (int i = 0; i < 500; ++i) {
    bench.origin.put(file_url(i), {.bytes = "content of " + std::to_string(i)});
    jobs.push_back(job_for({file_url(i)}));
    jobs.back().listed = true;
  }
  const auto outcomes = bench.fetch(jobs);
  ASSERT_EQ(outcomes.size(), 500U);
  std::uint64_t bytes = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string expected = "content of " + std::to_string(i);
    ASSERT_FALSE(outcomes[i].failure);
    EXPECT_EQ(bench.content(outcomes[i]), expected);
    EXPECT_TRUE(bench.store->present(outcomes[i].tree.digest));
    bytes += expected.size();
  }
  ASSERT_EQ(bench.ledger->records().size(), 1U) << "one line for the origin of a list";
  EXPECT_EQ(bench.record("https://a.example/").requests, 500U);
  EXPECT_EQ(bench.ledger->bytes(), bytes);
  EXPECT_EQ(bench.events->files_done(), 500U);
}

// They are hashed and published in groups: each is still judged by itself, and only its own source is to blame.
TEST(Swarm, OfManyPinnedFilesThoseThatOneMirrorSpoiltComeFromAnother) {
  FetchBench bench;
  bench.lanes = 3;
  std::vector<FileJob> jobs;
  std::vector<std::string> contents;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t size = i % 7 == 0 ? leaf_size_bytes : static_cast<std::uint64_t>(i) * 3001;
    contents.push_back(bytes_of(size, static_cast<std::uint64_t>(i)));
    bench.origin.put(file_url(i), {.bytes = contents.back(), .flip_at = i % 10 == 3 ? size / 2 : Behaviour::never});
    bench.origin.put(file_url(i, "b"), {.bytes = contents.back()});
    jobs.push_back(known_job({file_url(i), file_url(i, "b")}, contents.back()));
  }
  const auto outcomes = bench.fetch(jobs);
  for (int i = 0; i < 200; ++i) {
    const auto& outcome = outcomes[static_cast<std::size_t>(i)];
    const auto& content = contents[static_cast<std::size_t>(i)];
    ASSERT_FALSE(outcome.failure) << i << ": " << outcome.failure->message;
    EXPECT_EQ(outcome.tree.digest, tree_of(content).digest) << i;
    EXPECT_EQ(outcome.tree.chunks, tree_of(content).chunks) << i;
    EXPECT_EQ(bench.content(outcome), content) << i;
    const auto asked = bench.origin.reads(file_url(i)).size(), other = bench.origin.reads(file_url(i, "b")).size();
    EXPECT_LE(asked, 1U) << i;
    EXPECT_EQ(asked + other, asked == 1 && i % 10 == 3 ? 2U : 1U) << i;
    EXPECT_EQ(bench.record(file_url(i)).demoted, asked == 1 && i % 10 == 3) << i;
    EXPECT_FALSE(bench.record(file_url(i, "b")).demoted) << i;
  }
  EXPECT_EQ(bench.events->files_done(), 200U);
}

// One mirror gives a wrong begin and breaks off, the other the rest: who brought the end is not to blame for the whole.
TEST(Swarm, OfManyPinnedFilesThoseThatTwoMirrorsGaveBlameNobodyWhoWasRight) {
  FetchBench bench;
  bench.lanes = 1;
  std::vector<FileJob> jobs;
  const auto host = [](int i, bool liar) { return (i % 2 == 0) == liar ? "a" : "b"; };
  for (int i = 0; i < 40; ++i) {
    const std::string content = bytes_of(5000, static_cast<std::uint64_t>(i));
    bench.origin.put(file_url(i, host(i, true)),
                     {.bytes = content, .break_after = 1000, .break_times = 1, .flip_at = 10, .piece_size = 500});
    bench.origin.put(file_url(i, host(i, false)), {.bytes = content});
    jobs.push_back(known_job({file_url(i, "a"), file_url(i, "b")}, content));
  }
  const auto outcomes = bench.fetch(jobs);
  int mixed = 0;
  for (int i = 0; i < 40; ++i) {
    const auto& outcome = outcomes[static_cast<std::size_t>(i)];
    ASSERT_FALSE(outcome.failure) << i << ": " << outcome.failure->message;
    EXPECT_EQ(bench.content(outcome), bytes_of(5000, static_cast<std::uint64_t>(i))) << i;
    EXPECT_FALSE(bench.record(file_url(i, host(i, false))).demoted) << i;
    mixed += bench.origin.reads(file_url(i, host(i, true))).empty() ? 0 : 1;
  }
  EXPECT_GT(mixed, 0);
}

TEST(Swarm, OfManyPinnedFilesThoseThatAreWrongEverywhereFailAlone) {
  FetchBench bench;
  std::vector<FileJob> jobs;
  for (int i = 0; i < 50; ++i) {
    const std::string content = bytes_of(5000, static_cast<std::uint64_t>(i));
    bench.origin.put(file_url(i), {.bytes = content, .flip_at = i == 17 ? 0 : Behaviour::never});
    jobs.push_back(known_job({file_url(i)}, content));
  }
  const auto outcomes = bench.fetch(jobs);
  for (int i = 0; i < 50; ++i) {
    const auto& outcome = outcomes[static_cast<std::size_t>(i)];
    ASSERT_EQ(outcome.failure.has_value(), i == 17) << i;
    EXPECT_EQ(bench.store->present(jobs[static_cast<std::size_t>(i)].known->digest), i != 17) << i;
  }
  EXPECT_EQ(outcomes[17].failure->kind, FailureKind::content);
  EXPECT_EQ(bench.origin.reads(file_url(17)).size(), 1U);
}

// The files that a lane has read are kept, though its group was not full.
TEST(Swarm, AStopKeepsTheSmallFilesThatAreWhole) {
  FetchBench bench;
  bench.lanes = 1;
  std::vector<FileJob> jobs;
  for (int i = 0; i < 40; ++i) {
    bench.origin.put(file_url(i),
                     {.bytes = bytes_of(100, static_cast<std::uint64_t>(i)), .on_read = [&bench, i](Behaviour&) {
                        if (i == 20) bench.stop.request_stop();
                      }});
    jobs.push_back(job_for({file_url(i)}));
  }
  EXPECT_THROW((void)bench.fetch(jobs), Error);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(bench.store->present(tree_of(bytes_of(100, static_cast<std::uint64_t>(i))).digest)) << i;
  }
}

TEST(Swarm, FilesOfEveryKindSideBySide) {
  for (const unsigned lanes : {1U, 8U}) {
    FetchBench bench;
    bench.lanes = lanes;
    std::vector<FileJob> jobs;
    std::vector<std::string> contents;
    for (int i = 0; i < 24; ++i) {
      const std::uint64_t sizes[] = {0, 1000, chunk_size_bytes, chunk_size_bytes + 1, 3 * chunk_size_bytes};
      contents.push_back(seeded_bytes(static_cast<std::uint64_t>(i), 0, sizes[i % 5]));
      bench.origin.put(file_url(i), {.bytes = contents.back(), .break_after = 2'000'000, .break_times = 1});
      jobs.push_back(i % 3 == 0   ? known_job({file_url(i)}, contents.back())
                     : i % 3 == 1 ? summed_job({file_url(i)}, contents.back())
                                  : job_for({file_url(i)}));
    }
    const auto outcomes = bench.fetch(jobs);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      ASSERT_FALSE(outcomes[i].failure) << i << outcomes[i].failure->message;
      EXPECT_EQ(outcomes[i].tree.digest, tree_of(contents[i]).digest) << i;
      EXPECT_TRUE(bench.store->present(outcomes[i].tree.digest)) << i;
    }
    EXPECT_EQ(bench.ledger->bytes(), bench.origin.sent());
    EXPECT_EQ(bench.events->received(), bench.origin.sent());
    EXPECT_FALSE(bench.partials_left());
  }
}

TEST(Swarm, OneFileThatCannotBeHadIsItsOwnFailure) {
  FetchBench bench;
  bench.origin.put(file_url(1), {.bytes = "one"});
  bench.origin.put(file_url(3), {.bytes = "three"});
  const auto outcomes =
      bench.fetch(std::vector{job_for({file_url(1)}), job_for({file_url(2)}), job_for({file_url(3)})});
  EXPECT_FALSE(outcomes[0].failure);
  ASSERT_TRUE(outcomes[1].failure);
  EXPECT_EQ(outcomes[1].failure->kind, FailureKind::unavailable);
  EXPECT_FALSE(outcomes[2].failure);
}

TEST(Swarm, AFatalFailureEndsEveryLaneAndKeepsWhatIsWhole) {
  FetchBench bench(50'000'000);
  bench.lanes = 4;
  bench.origin.put(file_url(0), {.bytes = "whole"});
  bench.origin.put(file_url(1), {.bytes = seeded_bytes(1, 0, 60'000'000)});  // more than there is room for
  std::vector<FileJob> jobs = {job_for({file_url(0)})};
  for (int i = 2; i < 5; ++i) {
    bench.origin.put(file_url(i),
                     {.bytes = std::string(1'000'000, 'x'), .piece_size = 1000, .pause = milliseconds(100)});
    jobs.push_back(job_for({file_url(i)}));
  }
  jobs.insert(jobs.begin() + 2, job_for({file_url(1)}));  // on a busy machine two lanes are all that there are
  const auto begin = Clock::now();
  try {
    (void)bench.fetch(jobs);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::space) << error.failure().message;
  }
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(50)) << "the slow ones would take a hundred";
  EXPECT_TRUE(bench.store->present(tree_of("whole").digest));
}

TEST(Swarm, WhatIsNoErrorOfOursReachesTheCallerToo) {
  FetchBench bench;
  bench.origin.put(file_url(1), {.bytes = "x", .on_read = [](Behaviour&) { throw std::runtime_error("a defect"); }});
  EXPECT_THROW((void)bench.fetch(job_for({file_url(1)})), std::runtime_error);
  const std::string big = seeded_bytes(1, 0, 3 * chunk_size_bytes);
  bench.origin.put(file_url(1), {.bytes = big, .on_read = [](Behaviour&) { throw std::runtime_error("a defect"); }});
  EXPECT_THROW((void)bench.fetch(known_job({file_url(1)}, big)), std::runtime_error);
}

TEST(Swarm, AStopBeforeItBeginsAsksNobody) {
  FetchBench bench;
  bench.origin.put(file_url(1), {.bytes = "x"});
  bench.stop.request_stop();
  EXPECT_THROW((void)bench.fetch(job_for({file_url(1)})), Error);
  EXPECT_TRUE(bench.origin.reads(file_url(1)).empty());
}

// A stop between the first look at it and the first lane: without a lane, nothing ended the wait. Many files of one
// content make this moment long enough for a test.
TEST(Swarm, AStopAsItBeginsEndsItToo) {
  const std::vector<FileJob> jobs(20'000, known_job({file_url(1)}, "x"));
  for (int i = 0; i < 20; ++i) {
    FetchBench bench;
    bench.origin.put(file_url(1), {.bytes = "x"});
    std::atomic<bool> go{false};
    std::jthread stopper([&] {
      while (!go) std::this_thread::yield();
      for (const auto until = Clock::now() + std::chrono::microseconds(100 * i); Clock::now() < until;) {}
      bench.stop.request_stop();
    });
    go = true;
    try {
      (void)bench.fetch(jobs);  // whose end may come before a stop that is late
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::interrupted);
    }
  }
}

TEST(Swarm, AStopEndsTransfersAtOnce) {
  const std::string bytes = seeded_bytes(1, 0, 4 * chunk_size_bytes);
  FetchBench bench;
  bench.origin.put(file_url(1), {.bytes = bytes, .piece_size = 1000, .pause = milliseconds(10)});
  const auto took = time_to_stop(bench, [&] {
    (void)bench.fetch(std::vector{job_for({file_url(1)}), known_job({file_url(1)}, bytes)});
  });
  EXPECT_LT(took, std::chrono::seconds(30));
}

TEST(Swarm, AStopEndsPausesAtOnce) {
  FetchBench bench;
  const Failure busy{FailureKind::network, "503", "", std::chrono::milliseconds(200'000)};
  bench.origin.put(file_url(1), {.bytes = "x", .refusal = busy});
  const std::string big = seeded_bytes(1, 0, 3 * chunk_size_bytes);
  const auto took = time_to_stop(bench, [&] {
    (void)bench.fetch(std::vector{job_for({file_url(1)}), known_job({file_url(1)}, big)});
  });
  EXPECT_LT(took, std::chrono::seconds(30));
}

TEST(Swarm, AStopEndsARateLimitAtOnce) {
  FetchBench bench;
  RateLimiter slow(1000);
  bench.origin.put(file_url(1), {.bytes = std::string(1'000'000, 'x')});
  const auto took = time_to_stop(bench, [&] {
    FetchContext usual = bench.context();
    FetchContext context{
        .store = usual.store,
        .fetchers = usual.fetchers,
        .events = usual.events,
        .ledger = usual.ledger,
        .space = usual.space,
        .limiter = slow,
        .hosts = usual.hosts,
        .rewrites = usual.rewrites,
        .lanes = 4,
        .force = false,
        .stop = usual.stop,
    };
    (void)fetch_all(context, {job_for({file_url(1)})});
  });
  EXPECT_LT(took, std::chrono::seconds(30));
}

TEST(Swarm, WhatAStopLeftIsTakenUp) {
  const std::string bytes = seeded_bytes(1, 0, 4 * chunk_size_bytes);
  FetchBench bench;
  bench.lanes = 1;
  constexpr std::uint64_t piece = 500'000;
  bench.origin.put(file_url(1), {.bytes = bytes, .etag = "\"1\"", .piece_size = piece, .pause = milliseconds(10)});
  (void)time_to_stop(bench, [&] { (void)bench.fetch(job_for({file_url(1)})); });
  const auto before = bench.record(file_url(1)).bytes;
  ASSERT_LT(before, bytes.size());
  bench.reopen();
  bench.stop = std::stop_source();
  const auto outcome = bench.fetch(job_for({file_url(1)}));
  ASSERT_FALSE(outcome.failure);
  EXPECT_TRUE(bench.content(outcome) == bytes);
  const auto kept = before - std::min(before, piece);  // the one at which the stop was noticed was received, too
  EXPECT_LE(bench.record(file_url(1)).bytes, bytes.size() - kept / chunk_size_bytes * chunk_size_bytes);
}

}  // namespace
}  // namespace sabath::test
