// Every piece goes whole to every member, from any reader and in any number of parts.
#include "stage/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "support/thread_comm.h"

namespace sabath::test {
namespace {

constexpr unsigned members = 7;

// A file of four chunks, and some that are pieces of their own.
Tape uneven_tape() {
  constexpr std::array<std::uint64_t, 7> sizes{0, 1, 70'000, 1U << 20U, (1U << 20U) + 1, 2'500'000, chunk_size_bytes};
  std::vector<StagedFile> files(36);
  for (std::size_t i = 0; i < files.size(); ++i) files[i].digest.size_bytes = sizes[i % sizes.size()];
  files[9].digest.size_bytes = 3 * chunk_size_bytes + 1'100'000;
  return one_by_one(std::move(files));
}

using Contents = std::vector<std::vector<std::byte>>;  // by piece

Contents contents_of(const Tape& tape) {
  Contents all;
  for (const Piece& piece : tape.pieces()) {
    auto& bytes = all.emplace_back(piece.bytes);
    for (std::size_t at = 0; at < bytes.size(); at += 1000) {  // each thousand is of one value
      const auto value = static_cast<int>(7 * all.size() + at / 1000);
      std::memset(bytes.data() + at, value, std::min<std::size_t>(1000, bytes.size() - at));
    }
  }
  return all;
}

bool same(std::span<const std::byte> bytes, const std::vector<std::byte>& expected) {
  return bytes.size() == expected.size() &&
         (bytes.empty() || std::memcmp(bytes.data(), expected.data(), bytes.size()) == 0);
}

struct Unreadable {
  std::set<std::size_t> read, checked;  // pieces of which reading a part fails, or that are found to be wrong
};

// The members of `givers` read in turn: all, so that all give to both heads, pass on and receive at once; or the heads,
// who pass on what they have not yet read to its end.
const std::vector<unsigned> everybody{0, 1, 2, 3, 4, 5, 6}, heads{0, members - 1};

std::vector<ExchangeResult> exchange_among(const Tape& tape, const Unreadable& wrong,
                                           const std::vector<unsigned>& givers) {
  const std::size_t pieces = tape.pieces().size();
  const Contents contents = contents_of(tape);
  PieceSet every(pieces);
  std::vector<std::uint32_t> giver(pieces);
  for (std::size_t p = 0; p < pieces; ++p) {
    every.add(p);
    giver[p] = givers[p % givers.size()];
  }
  std::vector<ExchangeResult> results(members);
  ThreadRanks(members, 1).run([&](Comm& comm) {
    const Plan plan({members, comm.rank(), {}, PieceSet(pieces), every, every, giver, {}});
    Beat beat(comm);
    ExchangeWork work;
    work.read_shared = [&](std::size_t piece, const PiecePart& part, std::span<std::byte> room, unsigned) {
      std::minstd_rand engine(static_cast<unsigned>(1 + piece * 100 + part.offset));
      std::this_thread::sleep_for(std::chrono::microseconds(engine() % 3000));
      if (wrong.read.contains(piece) && part.offset > 0) throw Error(FailureKind::storage, "it is gone");
      std::ranges::copy(std::span(contents[piece]).subspan(part.offset, room.size()), room.begin());
    };
    work.check = [&](std::size_t piece, std::span<const std::byte> bytes) {
      EXPECT_TRUE(same(bytes, contents[piece]));
      if (wrong.checked.contains(piece)) throw Error(FailureKind::content, "it is wrong");
    };
    work.write = [&](std::size_t piece, std::span<const std::byte> bytes, bool verified, unsigned) {
      EXPECT_EQ(verified, giver[piece] == comm.rank());
      EXPECT_TRUE(same(bytes, contents[piece])) << piece;
    };
    results[comm.rank()] = exchange(comm, beat, plan, tape, work, {3, 2}, {});
  });
  return results;
}

class Exchange : public testing::TestWithParam<std::vector<unsigned>> {};
INSTANTIATE_TEST_SUITE_P(All, Exchange, testing::Values(everybody));
INSTANTIATE_TEST_SUITE_P(Heads, Exchange, testing::Values(heads));

TEST_P(Exchange, BringsEveryPieceWholeToAll) {
  const Tape tape = uneven_tape();
  const auto results = exchange_among(tape, {}, GetParam());
  std::uint64_t shared = 0, sent = 0, received = 0;
  for (const ExchangeResult& result : results) {
    EXPECT_EQ(result.kept.count(), tape.pieces().size());
    EXPECT_FALSE(result.failure);
    shared += result.shared_bytes;
    sent += result.sent_bytes;
    received += result.received_bytes;
  }
  EXPECT_EQ(shared, tape.bytes());
  EXPECT_EQ(received, (members - 1) * tape.bytes());
  EXPECT_EQ(sent, received);
}

TEST_P(Exchange, WhatCannotBeReadIsMissingEverywhereAndNothingElse) {
  const Tape tape = uneven_tape();
  const Unreadable wrong{{9, 10}, {11, 24, 25}};  // chunks of the large file; one of no bytes, one of a byte
  ASSERT_EQ(tape.pieces()[11].bytes, chunk_size_bytes);
  ASSERT_EQ(tape.pieces()[24].bytes, 0U);
  const auto results = exchange_among(tape, wrong, GetParam());
  for (unsigned m = 0; m < members; ++m) {
    const ExchangeResult& result = results[m];
    EXPECT_EQ(result.kept.count(), tape.pieces().size() - 5);
    std::set<std::size_t> mine;
    for (const std::size_t piece : {9, 10, 11, 24, 25}) {
      EXPECT_FALSE(result.kept.has(piece));
      if (GetParam()[piece % GetParam().size()] == m) mine.insert(piece);
    }
    EXPECT_EQ(result.failure.has_value(), !mine.empty());
    EXPECT_TRUE(mine.empty() ? !result.unreadable : mine.contains(result.unreadable.value())) << m;
  }
}

// The last part is read when the other parts are known to be with the other member.
TEST(ExchangeOfTwo, AHeadPassesOnWhatItStillReads) {
  std::vector<StagedFile> files(1);
  files[0].digest.size_bytes = 2 * chunk_size_bytes;
  const Tape tape = one_by_one(std::move(files));
  const Contents contents = contents_of(tape);
  PieceSet every(2);
  every.add(0);
  every.add(1);
  std::array<std::atomic<std::uint64_t>, 2> arrived{};
  ThreadRanks(2, 1).run([&](Comm& comm) {
    const Plan plan({2, comm.rank(), {}, PieceSet(2), every, every, {0, 1}, {}});
    Beat beat(comm);
    ExchangeWork work;
    std::atomic<std::uint64_t> received = 0;  // of both
    work.read_shared = [&](std::size_t piece, const PiecePart& part, std::span<std::byte> room, unsigned) {
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      const bool last = part.offset + part.bytes == chunk_size_bytes;
      while (last && received == 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
      if (last) arrived.at(comm.rank()) = received.load();
      std::ranges::copy(std::span(contents[piece]).subspan(part.offset, room.size()), room.begin());
    };
    work.check = [](std::size_t, std::span<const std::byte>) {};
    work.write = [&](std::size_t piece, std::span<const std::byte> bytes, bool, unsigned) {
      EXPECT_TRUE(same(bytes, contents[piece]));
    };
    work.on_beat = [&](const Beat::Words& sums) { received = sums.received; };
    const ExchangeResult result = exchange(comm, beat, plan, tape, work, {2, 2}, {});
    EXPECT_EQ(result.kept.count(), 2U);
    EXPECT_EQ(result.received_bytes, chunk_size_bytes);
  });
  EXPECT_GT(arrived[0], 0U);
  EXPECT_GT(arrived[1], 0U);
}

TEST(Tape, PartsAreTheWholePieceInOrder) {
  std::vector<StagedFile> files(3000);
  for (std::size_t i = 0; i < files.size(); ++i) files[i].digest.size_bytes = i % 97 == 0 ? 900'000 : i % 3000;
  files[500].digest.size_bytes = 2 * chunk_size_bytes + 1;
  const Tape tape(std::move(files));
  for (const Piece& piece : tape.pieces()) {
    const auto parts = tape.parts(piece, 1U << 19U);
    std::uint32_t offset = 0, file = piece.first;
    for (const PiecePart& part : parts) {
      EXPECT_EQ(part.offset, offset);
      EXPECT_EQ(part.first, file);
      EXPECT_LT(part.bytes, Tape::run_part_bytes + 900'000);  // the last file may be one of the largest
      offset += part.bytes;
      if (!tape.is_chunk(piece)) file += part.files;
    }
    EXPECT_EQ(offset, piece.bytes);
    EXPECT_EQ(file, tape.is_chunk(piece) ? piece.first : piece.first + piece.files);
    EXPECT_LE(parts.size(), tape.is_chunk(piece) ? 8U : 4U);
  }
}

}  // namespace
}  // namespace sabath::test
