// One beat after another: all ranks hear the same, and a rank that is silent is given up and named.
#include "comm/heartbeat.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "comm/solo_comm.h"
#include "sabath/error.h"
#include "support/thread_comm.h"

namespace sabath::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Told {
  std::uint64_t done = 0, bytes = 0;
};

TEST(Heartbeat, TellsAllRanksTheSame) {
  constexpr unsigned ranks = 5;
  ThreadRanks(ranks).run([&](Comm& comm) {
    Heartbeat heart(comm, milliseconds(50));
    for (std::uint64_t beat = 1; beat <= 40; ++beat) {
      EXPECT_FALSE(heart.under_way());
      heart.begin(Told{comm.rank() % 2, beat * comm.rank()});
      EXPECT_TRUE(heart.under_way());
      heart.wait();
      EXPECT_EQ(heart.all<Told>().done, 2U);
      EXPECT_EQ(heart.all<Told>().bytes, beat * (0 + 1 + 2 + 3 + 4));
      heart.begin(Told{10 + comm.rank(), UINT64_MAX}, Reduction::minimum);  // words of another meaning
      while (!heart.ended()) std::this_thread::yield();
      EXPECT_EQ(heart.all<Told>().done, 10U);
      EXPECT_EQ(heart.all<Told>().bytes, UINT64_MAX);
    }
  });
}

TEST(Heartbeat, RestsLongerWhileNothingMoves) {
  const auto comm = make_solo_comm();
  Heartbeat heart(*comm, milliseconds(50));
  Heartbeat::Clock::duration before = heart.rest(true);
  EXPECT_EQ(before, Heartbeat::rest_min);
  for (int beat = 0; beat < 20; ++beat) {
    const auto rest = heart.rest(false);
    EXPECT_TRUE(rest > before || rest == milliseconds(50));
    before = rest;
  }
  EXPECT_EQ(before, milliseconds(50));
  EXPECT_EQ(heart.rest(true), Heartbeat::rest_min);
}

TEST(Heartbeat, NamesTheRanksThatAreSilent) {
  constexpr unsigned ranks = 5;
  std::vector<std::string> said(ranks);
  ThreadRanks(ranks).run([&](Comm& comm) {
    auto names = Heartbeat::names_of(comm, comm.rank(), "the machine " + std::to_string(comm.rank()));
    EXPECT_EQ(names.size(), comm.rank() == 0 ? ranks : 0);
    names.erase(4);
    // Rank 0 calls the roll when the others that live have long answered, however slow this machine is.
    Heartbeat heart(comm, milliseconds(50), std::move(names), comm.rank() == 0 ? seconds(2) : milliseconds(1));
    if (comm.rank() == 2 || comm.rank() == 4) return;
    heart.begin(Told{});
    try {
      heart.wait();
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::nodes);
      EXPECT_FALSE(error.failure().hint.empty());
      said[comm.rank()] = error.failure().message;
    }
  });
  EXPECT_EQ(said[0], "the machine 2, rank 4 has not answered for 2 s");
  EXPECT_NE(said[1].find("has waited for another for "), std::string::npos) << said[1];
  EXPECT_NE(said[3].find("rank 3 on "), std::string::npos) << said[3];
}

TEST(Heartbeat, AProcessThatWasStoppedGivesNobodyUp) {
  std::atomic<bool> goes_on = false;
  ThreadRanks(2).run([&](Comm& comm) {
    Heartbeat heart(comm, milliseconds(50), {}, seconds(2));
    if (comm.rank() == 0) {
      heart.begin(Told{1, 1});
      std::this_thread::sleep_for(milliseconds(2100));  // as if by SIGSTOP
      EXPECT_FALSE(heart.ended());
      goes_on = true;
    } else {
      while (!goes_on) std::this_thread::sleep_for(milliseconds(1));
      heart.begin(Told{1, 1});
    }
    heart.wait();
    EXPECT_EQ(heart.all<Told>().done, 2U);
  });
}

}  // namespace
}  // namespace sabath::test
