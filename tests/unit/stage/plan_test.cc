// The plans of all members together: each piece that a member lacks comes to it exactly once.
#include "stage/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <random>
#include <set>

#include "stage/knowledge.h"
#include "stage/plan/deal.h"
#include "stage/plan/trees.h"
#include "support/thread_comm.h"

namespace sabath::test {
namespace {

Tape tape_of(std::size_t pieces) {
  Digest digest;
  digest.size_bytes = pieces * chunk_size_bytes - 5;
  return Tape({{digest, "f"}});
}

TEST(Trees, ReachAllOnceAndNobodyIsInsideBoth) {
  for (unsigned members = 1; members <= 70; ++members) {
    std::vector<unsigned> sends(members);
    for (unsigned tree = 0; tree < trees::count; ++tree) {
      std::set<unsigned> reached{trees::head(tree, members)};
      for (unsigned m = 0; m < members; ++m) {
        for (const unsigned child : trees::children(tree, members, m)) {
          EXPECT_TRUE(reached.insert(child).second);
          EXPECT_EQ(trees::parent(tree, members, child), m);
          ++sends[m];
        }
      }
      EXPECT_EQ(reached.size(), members);
      EXPECT_FALSE(trees::parent(tree, members, trees::head(tree, members)));
    }
    for (const unsigned count : sends) EXPECT_LE(count, 3U) << members;
  }
}

// The plans of all members, as they agree on them; `mine(member, piece)`: what each has.
struct Trial {
  unsigned members;
  std::size_t pieces;
  Dealing dealing;
  std::function<bool(unsigned, std::size_t)> has;
  std::function<bool(unsigned)> able = [](unsigned) { return true; };
};

std::vector<Plan> plans_of(const Trial& trial) {
  const Tape tape = tape_of(trial.pieces);
  std::vector<std::optional<Plan>> plans(trial.members);
  ThreadRanks(trial.members, 1).run([&](Comm& comm) {
    PieceSet mine(trial.pieces);
    for (std::size_t p = 0; p < trial.pieces; ++p) {
      if (trial.has(comm.rank(), p)) mine.add(p);
    }
    plans[comm.rank()].emplace(agree_on_plan(comm, tape, trial.dealing, mine, {trial.able(comm.rank()), 3}).plan);
  });
  std::vector<Plan> all;
  for (auto& plan : plans) all.push_back(std::move(*plan));
  return all;
}

// Follows every piece along the hops; returns how often the shared store was read.
std::size_t expect_delivery(const Trial& trial) {
  const auto plans = plans_of(trial);
  std::size_t reads = 0;
  for (std::size_t p = 0; p < trial.pieces; ++p) {
    std::vector<unsigned> came(trial.members), at;
    for (unsigned m = 0; m < trial.members; ++m) {
      const bool here = trial.has(m, p);
      reads += plans[m].reads(p) ? 1U : 0U;
      if (here || plans[m].reads(p)) at.push_back(m);
    }
    while (!at.empty()) {
      const unsigned m = at.back();
      at.pop_back();
      for (const Hop& hop : plans[m].hops(p)) {
        EXPECT_EQ(hop.channel, plans[hop.member].channel(p));
        const auto sender = plans[m].sender(hop.channel, hop.member);
        EXPECT_TRUE(!sender || *sender == m) << "piece " << p << " to " << hop.member;
        EXPECT_TRUE(plans[hop.member].receives(p));
        EXPECT_FALSE(trial.has(hop.member, p)) << "piece " << p << " to " << hop.member << ", who has it";
        if (came[hop.member]++ == 0) at.push_back(hop.member);
      }
    }
    for (unsigned m = 0; m < trial.members; ++m) {
      EXPECT_EQ(came[m], plans[m].receives(p) ? 1U : 0U) << "piece " << p << " at " << m;
      const bool there = trial.has(m, p) || came[m] > 0 || plans[m].reads(p);
      EXPECT_TRUE(there || !plans[m].wants(p));
    }
  }
  return reads;
}

TEST(Plan, NothingAnywhereIsReadOnceAndReachesAll) {
  for (unsigned members = 1; members <= 9; ++members) {
    EXPECT_EQ(expect_delivery({members, 13, {}, [](unsigned, std::size_t) { return false; }}), 13U);
  }
}

TEST(Plan, WhatAnyNodeHasIsNotRead) {
  EXPECT_EQ(expect_delivery({5, 20, {}, [](unsigned m, std::size_t) { return m != 3; }}), 0U);
  EXPECT_EQ(expect_delivery({5, 20, {}, [](unsigned m, std::size_t) { return m == 4; }}), 0U);
  EXPECT_EQ(expect_delivery({5, 20, {}, [](unsigned, std::size_t) { return true; }}), 0U);
}

TEST(Plan, AnyHoldingsWhateverWasBrokenOff) {
  std::mt19937 engine(20261121);
  const auto random = [&] { return static_cast<unsigned>(engine()); };
  for (unsigned round = 0; round < 60; ++round) {
    const unsigned members = 1 + random() % 9;
    std::vector<bool> has(std::size_t{members} * 17);
    const unsigned percent = random() % 101;
    for (std::size_t i = 0; i < has.size(); ++i) has[i] = random() % 100 < percent;
    Trial trial{members, 17, {}, [&](unsigned m, std::size_t p) { return has[m * 17 + p]; }};
    trial.able = [&](unsigned m) { return m == 0 || m % 2 == round % 2; };
    if (round % 3 == 0) {
      const unsigned shares = members + random() % 5;  // more ranks than nodes, in any mapping
      shard::Shares dealt{{}, {}, std::min(1 + round % 4, shares)};
      for (unsigned s = 0; s < shares; ++s) dealt.member.push_back(s < members ? s : random() % members);
      std::ranges::shuffle(dealt.member, engine);
      trial.dealing = {false, {}, {}};
      for (unsigned s = 0; s < shares; ++s) trial.dealing.hands.push_back(dealt.members_of(s));
      for (std::size_t p = 0; p < 17; ++p) trial.dealing.hand.push_back(static_cast<std::uint32_t>(p % shares));
    }
    std::size_t nowhere = 0;
    for (std::size_t p = 0; p < 17; ++p) {
      bool here = false;
      for (unsigned m = 0; m < members; ++m) here = here || has[m * 17 + p];
      nowhere += here ? 0 : 1;
    }
    EXPECT_EQ(expect_delivery(trial), nowhere) << "round " << round;
  }
}

// Pieces that a head reads need not go to the other head, and both trees have the same work.
TEST(Plan, HeadsGiveWhatTheyReadToTheirOwnTree) {
  const auto nowhere = [](unsigned, std::size_t) { return false; };
  for (const std::size_t pieces : {60U, 64U, 99U, 200U}) {
    const auto plans = plans_of({8, pieces, {}, nowhere});
    std::array<std::size_t, trees::count> of_tree{}, by_head{};
    for (std::size_t p = 0; p < pieces; ++p) {
      const unsigned tree = plans[0].channel(p);
      ++of_tree.at(tree);
      for (unsigned other = 0; other < trees::count; ++other) {
        if (plans[0].giver(p) == trees::head(other, 8)) ++by_head.at(other == tree ? 1 : 0);
      }
    }
    EXPECT_NEAR(static_cast<double>(of_tree[0]), static_cast<double>(of_tree[1]), 2) << pieces;
    const bool several = readers_for(pieces, 0, 3) > 1;
    EXPECT_EQ(by_head[0] == 0, several) << pieces;  // one reader feeds both trees
    EXPECT_GT(by_head[1], 0U);
  }
}

// A tree's head may begin with an unfinished piece only if no other member gives anything down that tree.
TEST(Plan, WhoGivesAloneIsAHeadThatSharesItsTreeWithNobody) {
  const auto nowhere = [](unsigned, std::size_t) { return false; };
  const auto alone = [&](std::size_t pieces) {  // by tree: does its head give alone, and no other member ever
    const auto plans = plans_of({8, pieces, {}, nowhere});
    std::array<bool, trees::count> of_tree{true, true};
    for (std::size_t p = 0; p < pieces; ++p) {
      const unsigned tree = plans[0].channel(p);
      for (unsigned m = 0; m < plans.size(); ++m) {
        EXPECT_FALSE(plans[m].gives_alone(p) && m != trees::head(tree, 8)) << p;
      }
      if (!plans[trees::head(tree, 8)].gives_alone(p)) of_tree.at(tree) = false;
    }
    return of_tree;
  };
  EXPECT_EQ(alone(64), (std::array{true, true}));    // the heads read
  EXPECT_EQ(alone(60), (std::array{true, false}));   // the first of them does, for both
  EXPECT_EQ(alone(99), (std::array{false, false}));  // another one, too
}

TEST(Plan, FewPiecesHaveFewReaders) {
  EXPECT_EQ(readers_for(0, 0, 64), 1U);
  EXPECT_EQ(readers_for(64, 0, 64), 2U);
  EXPECT_EQ(readers_for(512, 0, 8), 8U);
  EXPECT_EQ(readers_for(1'000'000, 0, 64), 64U);
  EXPECT_EQ(readers_for(16, 4096, 64), 32U);
}

TEST(Plan, ReadersHaveContiguousPartsOfOneSize) {
  const Tape tape = tape_of(100);
  PieceSet unread(100);
  for (std::size_t p = 0; p < 100; ++p) unread.add(p);
  std::vector<std::uint32_t> giver(100, Plan::nobody);
  assign_readers(giver, tape, unread, choose_readers({0, 1, 2, 3, 4, 5, 6, 7}, 4), {});
  EXPECT_TRUE(std::ranges::is_sorted(giver));
  for (const unsigned reader : {0U, 2U, 4U, 7U}) EXPECT_EQ(std::ranges::count(giver, reader), 25) << reader;
}

// 256 MiB in one file, by four readers: none begins inside a stripe, and none has more than half a part too much.
TEST(Plan, ReadersShareNoStripe) {
  std::vector<StagedFile> files(2);
  files[0].digest.size_bytes = 5;
  files[1].digest.size_bytes = 64 * chunk_size_bytes;
  const Tape tape(files);
  PieceSet unread(tape.pieces().size());
  for (std::size_t p = 0; p < unread.size(); ++p) unread.add(p);
  for (const std::uint64_t chunks : {0, 1, 3, 7, 8, 12, 64}) {
    std::vector<std::uint32_t> giver(unread.size(), Plan::nobody);
    assign_readers(giver, tape, unread, {0, 1, 2, 3}, {}, chunks * chunk_size_bytes);
    EXPECT_TRUE(std::ranges::is_sorted(giver));
    for (std::size_t p = 2; p < giver.size(); ++p) {
      const std::uint64_t chunk = tape.pieces()[p].chunk;
      const bool known = chunks > 0 && chunks <= 8;
      EXPECT_TRUE(!known || giver[p] == giver[p - 1] || chunk % chunks == 0) << chunks << " " << chunk;
    }
    for (const unsigned reader : {0U, 1U, 2U, 3U}) EXPECT_LE(std::ranges::count(giver, reader), 24) << chunks;
  }
}

TEST(Deal, IsTheSameForTheSameAndEven) {
  std::vector<StagedFile> files(103);
  for (std::size_t i = 0; i < files.size(); ++i) files[i].path = "f" + std::to_string(i);
  const auto owners = shard::deal(files, 7, 4);
  EXPECT_EQ(owners, shard::deal(files, 7, 4));
  EXPECT_NE(owners, shard::deal(files, 8, 4));
  for (std::uint32_t node = 0; node < 4; ++node)
    EXPECT_NEAR(static_cast<double>(std::ranges::count(owners, node)), 103 / 4., 1);
  // A file's node does not depend on the order in which files are listed.
  std::vector<StagedFile> turned(files.rbegin(), files.rend());
  auto again = shard::deal(turned, 7, 4);
  std::ranges::reverse(again);
  EXPECT_EQ(owners, again);
}

// Seven paths, of three contents, to three nodes: a content is wanted by all who get one of its paths, and by no other.
TEST(Deal, EqualContentGoesToAllThatGetOneOfItsPaths) {
  const auto content = [](std::uint64_t size) {
    Digest digest;
    digest.size_bytes = size;
    return digest;
  };
  std::vector<StagedFile> paths;
  for (const std::uint64_t size : {0, 0, 0, 5, 5, 7, 0}) paths.push_back({content(size), std::to_string(paths.size())});
  const std::vector<std::uint32_t> owners{1, 1, 0, 2, 2, 0, 1};
  const std::vector<StagedFile> contents{{content(0), "0"}, {content(5), "3"}, {content(7), "5"}};
  const shard::Shares one{{0, 1, 2}, {}, 1}, two{{0, 1, 2}, {}, 2};
  const auto hand = [&](const shard::Shares& shares, std::size_t i) {
    const auto all = shard::hands_of(contents, paths, owners, shares);
    auto members = all.hands.at(all.hand.at(i));
    std::ranges::sort(members);
    return members;
  };
  using Members = std::vector<std::uint32_t>;
  EXPECT_EQ(hand(one, 0), (Members{0, 1}));
  EXPECT_EQ(hand(one, 1), (Members{2}));
  EXPECT_EQ(hand(one, 2), (Members{0}));
  EXPECT_EQ(hand(two, 0), (Members{0, 1, 2}));
  EXPECT_EQ(hand(two, 1), (Members{0, 2}));
}

TEST(Tape, GroupsSmallFilesAndNeverTwoNodes) {
  std::vector<StagedFile> files(10);
  for (std::size_t i = 0; i < files.size(); ++i) files[i].digest.size_bytes = i == 5 ? 9 * 1024 * 1024 : 1 << 20;
  const Tape tape(files);
  ASSERT_EQ(tape.pieces().size(), 2U + 3U + 1U);
  EXPECT_EQ(tape.pieces()[0].files, 4U);
  EXPECT_EQ(tape.pieces()[1].files, 1U);
  EXPECT_EQ(tape.pieces()[4].bytes, 1U << 20);
  std::uint64_t bytes = 0;
  for (const Piece& piece : tape.pieces()) bytes += piece.bytes;
  EXPECT_EQ(bytes, tape.bytes());
  const Tape dealt(files, std::vector<std::uint32_t>{0, 0, 1, 1, 1, 2, 2, 2, 2, 3});
  EXPECT_EQ(dealt.pieces()[0].files, 2U);
  EXPECT_EQ(dealt.pieces()[1].files, 3U);
}

}  // namespace
}  // namespace sabath::test
