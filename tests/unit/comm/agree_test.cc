// Agreement of ranks: all throw the same, or none does.
#include "comm/agree.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>

#include "comm/parcel.h"
#include "comm/solo_comm.h"
#include "support/thread_comm.h"

namespace sabath::test {
namespace {

// The failure that each rank gets if those of `failing` fail, with these kinds.
std::vector<std::optional<Failure>> agreed(unsigned size, const std::map<unsigned, FailureKind>& failing) {
  std::vector<std::optional<Failure>> result(size);
  ThreadRanks(size).run([&](Comm& comm) {
    std::optional<Failure> mine;
    if (failing.contains(comm.rank())) mine = Failure{failing.at(comm.rank()), "it broke", "mend it", std::nullopt};
    result[comm.rank()] = agree(comm, mine);
  });
  return result;
}

TEST(Agree, NobodyFails) {
  for (const unsigned size : {1U, 2U, 3U, 7U}) {
    for (const auto& failure : agreed(size, {})) EXPECT_FALSE(failure);
  }
}

TEST(Agree, AllSayTheSameAndNameTheRank) {
  const auto failures = agreed(5, {{3, FailureKind::storage}, {4, FailureKind::network}});
  for (const auto& failure : failures) {
    ASSERT_TRUE(failure);
    EXPECT_EQ(*failure, *failures[0]);
    EXPECT_EQ(failure->kind, FailureKind::storage);
    EXPECT_EQ(failure->message, "rank 3 on node1: it broke");
    EXPECT_EQ(failure->hint, "mend it");
  }
  EXPECT_EQ(agreed(2, {{0, FailureKind::usage}})[1]->message, "it broke") << "rank 0 speaks for itself";
}

TEST(Agree, WhatEndsTheCallIsGravest) {
  EXPECT_EQ(agreed(4, {{1, FailureKind::storage}, {2, FailureKind::space}})[0]->kind, FailureKind::space);
  EXPECT_EQ(agreed(4, {{1, FailureKind::space}, {3, FailureKind::interrupted}})[0]->kind, FailureKind::interrupted);
}

TEST(Agree, APhaseThatOneRankCannotDoIsDoneByNone) {
  std::atomic<unsigned> thrown{0};
  ThreadRanks(3).run([&](Comm& comm) {
    try {
      run_agreed(comm, [&] {
        if (comm.rank() == 2) throw std::bad_alloc();
      });
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::internal);
      ++thrown;
    }
    run_agreed(comm, [] {});
  });
  EXPECT_EQ(thrown, 3U);
}

TEST(Agree, OneProcessAgreesWithItself) {
  const auto comm = make_solo_comm();
  EXPECT_EQ(comm->size(), 1U);
  EXPECT_FALSE(agree(*comm, std::nullopt));
  EXPECT_EQ(agree(*comm, Failure{FailureKind::space, "full", "", std::nullopt})->message, "full");
  EXPECT_EQ(comm->gather("x"), std::vector<std::string>{"x"});
  EXPECT_EQ(comm->scatter({"y"}), "y");
}

TEST(Parcel, GivesBackWhatWasPut) {
  const Failure failure{FailureKind::network, "reset", "again", std::chrono::milliseconds(0)};
  const std::string bytes = Parcel().add(std::uint64_t{7}).add("").add(std::string("a\0b", 3)).add(failure).take();
  Parcel::Reader reader(bytes);
  EXPECT_EQ(reader.number(), 7U);
  EXPECT_EQ(reader.text(), "");
  EXPECT_EQ(reader.text(), std::string("a\0b", 3));
  EXPECT_EQ(reader.failure(), failure);
  EXPECT_TRUE(reader.at_end());
}

TEST(Parcel, EndsWhereItEnds) {
  const std::string bytes = Parcel().add("twelve bytes").take();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    Parcel::Reader reader(std::string_view(bytes).substr(0, length));
    EXPECT_THROW(static_cast<void>(reader.text()), Error) << length;
  }
}

}  // namespace
}  // namespace sabath::test
