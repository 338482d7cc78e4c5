// All ranks of a job fetch into one store: threads as ranks, an origin in memory.
#include "fetch/ranks/team.h"

#include <gtest/gtest.h>

#include <array>
#include <climits>

#include "fetch_bench.h"
#include "support/seeded.h"
#include "support/thread_comm.h"

namespace sabath::test::team {
namespace {

std::string url(std::size_t i) { return "https://a.example/" + std::to_string(i); }

// One bench for the store, the origin and rank 0's books; the other ranks open the store anew, as processes would.
struct TeamBench : FetchBench {
  std::vector<FileOutcome> fetch_by(unsigned ranks, const std::vector<FileJob>& jobs) {
    std::vector<FileOutcome> outcomes;
    std::exception_ptr thrown;
    ThreadRanks(ranks).run([&](Comm& comm) {
      Team team(comm, 0, comm.rank() == stopped_rank ? stop.get_token() : std::stop_token());
      if (comm.rank() == 0) {
        FetchContext own = context();
        own.stop = team.stop();
        own.team = &team;
        if (pausing) {
          own.hosts.add_rule(rule);
          own.hosts.of("https://of-0.lab").pause_until(in_a_while(), true);
        }
        team.lead([&] {
          try {
            outcomes = fetch_by_all_ranks(own, jobs);
          } catch (...) {
            thrown = std::current_exception();
          }
        });
      } else {
        follow(comm, team);
      }
    });
    if (thrown) std::rethrow_exception(thrown);
    return outcomes;
  }

  void follow(Comm& comm, Team& team) {
    const auto mine = Store::open(directory / "store", false);
    NoEvents nothing;
    Ledger unused(nothing);
    RateLimiter unlimited(0);
    const bool fails = comm.rank() == failing_rank;
    SpaceGuard room({fails ? 0 : UINT64_MAX, UINT64_MAX}, "the store");
    Broken broken;
    const FetcherSet& source = fails ? static_cast<const FetcherSet&>(broken) : origin;
    Hosts table(lanes, comm.size());
    if (comm.rank() == 1 && pausing) table.of("https://of-1.lab").pause_until(in_a_while(), false);
    FetchContext own{
        .store = *mine,
        .fetchers = source,
        .events = nothing,
        .ledger = unused,
        .space = room,
        .limiter = unlimited,
        .hosts = table,
        .rewrites = rewrites,
        .lanes = lanes,
        .force = false,
        .stop = team.stop(),
    };
    team.follow(own);
    paused_here[comm.rank()] = {table.of("https://of-0.lab").paused_until(),
                                table.of("https://of-1.lab").paused_until()};
    rules_here[comm.rank()] = table.rules();
  }
  static Host::Clock::time_point in_a_while() { return Host::Clock::now() + std::chrono::minutes(10); }

  // The node of this rank cannot write: every read ends in a fatal failure of its own.
  struct Broken : FetcherSet, Fetcher {
    [[nodiscard]] Fetcher* find(std::string_view) const override { return const_cast<Broken*>(this); }
    [[nodiscard]] std::vector<Scheme> schemes() const override { return {}; }
    void read(const ReadRequest&, Sink&, Traffic&, std::stop_token) override {
      throw Error(FailureKind::storage, "cannot write: input/output error");
    }
  };

  void expect_contents(const std::vector<FileOutcome>& outcomes, const std::vector<std::string>& contents) {
    ASSERT_EQ(outcomes.size(), contents.size());
    for (std::size_t i = 0; i < contents.size(); ++i) {
      ASSERT_FALSE(outcomes[i].failure) << i << ": " << outcomes[i].failure->message;
      EXPECT_TRUE(content(outcomes[i]) == contents[i]) << i;
    }
  }

  unsigned failing_rank = UINT_MAX, stopped_rank = 0;
  bool pausing = false;
  const HostRule rule{"of-0.lab", {3, 4}};
  std::array<std::array<Host::Clock::time_point, 2>, 7> paused_here{};  // by rank
  std::array<std::vector<HostRule>, 7> rules_here;
};

struct Files {
  std::vector<std::string> contents;
  std::vector<FileJob> jobs;
  std::uint64_t bytes = 0;
};

Files small_files(TeamBench& bench, std::size_t count, bool known) {
  Files files;
  for (std::size_t i = 0; i < count; ++i) {
    files.contents.push_back(seeded_bytes(i, 0, 1000 + 100 * i));
    files.bytes += files.contents.back().size();
    bench.origin.put(url(i), {.bytes = files.contents.back()});
    files.jobs.push_back(known ? known_job({url(i)}, files.contents.back()) : job_for({url(i)}));
    files.jobs.back().name = "f" + std::to_string(i);
    files.jobs.back().listed = true;
  }
  return files;
}

TEST(Team, ManySmallFilesEachOnceByAnyNumberOfRanks) {
  for (const unsigned ranks : {1U, 2U, 3U, 7U}) {
    TeamBench bench;
    const Files files = small_files(bench, 60, ranks % 2 == 0);
    bench.expect_contents(bench.fetch_by(ranks, files.jobs), files.contents);
    EXPECT_EQ(bench.origin.sent(), files.bytes);
    EXPECT_EQ(bench.ledger->bytes(), files.bytes) << "counted where it happened, summed by rank 0";
    EXPECT_EQ(bench.record("https://a.example/").requests, 60U);
    EXPECT_EQ(bench.events->files_done(), 60U);
    EXPECT_EQ(bench.events->received(), files.bytes) << "the display sees them all, before the end";
    EXPECT_EQ(bench.events->reused(), 0U);
  }
}

TEST(Team, ALargePinnedFileIsSharedChunkByChunk) {
  TeamBench bench;
  const std::string bytes = seeded_bytes(1, 0, 12 * chunk_size_bytes + 7);
  bench.origin.put(url(1), {.bytes = bytes, .pause = std::chrono::milliseconds(20)});
  bench.expect_contents(bench.fetch_by(3, {known_job({url(1)}, bytes)}), {bytes});
  EXPECT_EQ(bench.ledger->bytes(), bench.origin.sent());
  EXPECT_EQ(bench.events->files_done(), 1U);
  EXPECT_FALSE(bench.partials_left());
}

TEST(Team, AFilesFailureIsItsOwn) {
  TeamBench bench;
  Files files = small_files(bench, 20, false);
  bench.origin.put(url(13), {.bytes = "", .refusal = Failure{FailureKind::unavailable, "404", "", std::nullopt}});
  const auto outcomes = bench.fetch_by(3, files.jobs);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_EQ(outcomes[i].failure.has_value(), i == 13);
  }
  EXPECT_EQ(outcomes[13].failure->kind, FailureKind::unavailable);
}

TEST(Team, OthersDoTheWorkOfARankThatFails) {
  TeamBench bench;
  bench.failing_rank = 2;
  const Files files = small_files(bench, 30, false);
  bench.expect_contents(bench.fetch_by(4, files.jobs), files.contents);
  EXPECT_EQ(bench.ledger->bytes(), files.bytes);
}

TEST(Team, WhatAHostWantsAllRanksKnow) {
  TeamBench bench;
  bench.pausing = true;
  const Files files = small_files(bench, 30, false);
  bench.expect_contents(bench.fetch_by(4, files.jobs), files.contents);
  const auto soon = Host::Clock::now() + std::chrono::minutes(5);
  EXPECT_GT(bench.hosts->of("https://of-1.lab").paused_until(), soon);
  for (unsigned rank = 1; rank < 4; ++rank) {
    EXPECT_GT(bench.paused_here[rank][0], soon) << rank;
    EXPECT_GT(bench.paused_here[rank][1], soon) << rank;
    EXPECT_EQ(bench.rules_here[rank], std::vector<HostRule>{bench.rule}) << rank;
  }
}

TEST(Team, AStopOnAnyRankIsForAll) {
  for (const unsigned rank : {0U, 2U}) {
    TeamBench bench;
    bench.stopped_rank = rank;
    Files files = small_files(bench, 8, false);
    for (std::size_t i = 0; i < files.jobs.size(); ++i) {
      bench.origin.put(url(i), {.bytes = seeded_bytes(i, 0, 1 << 20),
                                .piece_size = 100,
                                .pause = std::chrono::milliseconds(10),
                                .on_read = [&](Behaviour&) { bench.stop.request_stop(); }});
    }
    try {
      static_cast<void>(bench.fetch_by(3, files.jobs));
      ADD_FAILURE() << "it was not stopped";
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::interrupted);
    }
  }
}

TEST(Team, SeveralListsOneAfterTheOther) {
  TeamBench bench;
  const Files files = small_files(bench, 12, false);
  ThreadRanks(3).run([&](Comm& comm) {
    Team team(comm, 0, {});
    if (comm.rank() != 0) return bench.follow(comm, team);
    FetchContext own = bench.context();
    own.team = &team;
    team.lead([&] {
      for (std::size_t i = 0; i < 12; i += 4) {
        const std::vector<FileJob> some(files.jobs.begin() + static_cast<std::ptrdiff_t>(i),
                                        files.jobs.begin() + static_cast<std::ptrdiff_t>(i + 4));
        for (const auto& outcome : fetch_by_all_ranks(own, some)) EXPECT_FALSE(outcome.failure);
      }
    });
  });
  EXPECT_EQ(bench.ledger->bytes(), files.bytes);
  EXPECT_EQ(bench.events->received(), files.bytes);
}

}  // namespace
}  // namespace sabath::test::team
