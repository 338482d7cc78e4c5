// Every piece goes whole to every member, whoever reads it and in however many parts it comes.
#include "stage/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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

// Each member reads every seventh piece, so that all give to both heads, pass on and receive at once.
std::vector<ExchangeResult> exchange_among(const Tape& tape, const Unreadable& wrong) {
  const std::size_t pieces = tape.pieces().size();
  const Contents contents = contents_of(tape);
  PieceSet every(pieces);
  std::vector<std::uint32_t> giver(pieces);
  for (std::size_t p = 0; p < pieces; ++p) {
    every.add(p);
    giver[p] = static_cast<std::uint32_t>(p % members);
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

TEST(Exchange, BringsEveryPieceWholeToAll) {
  const Tape tape = uneven_tape();
  const auto results = exchange_among(tape, {});
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

TEST(Exchange, WhatCannotBeReadIsMissingEverywhereAndNothingElse) {
  const Tape tape = uneven_tape();
  const Unreadable wrong{{9, 10}, {20}};  // chunks of the large file; a small one
  const auto results = exchange_among(tape, wrong);
  for (unsigned m = 0; m < members; ++m) {
    const ExchangeResult& result = results[m];
    EXPECT_EQ(result.kept.count(), tape.pieces().size() - 3);
    for (const std::size_t piece : {9, 10, 20}) {
      EXPECT_FALSE(result.kept.has(piece));
      if (piece % members == m) {
        EXPECT_EQ(result.unreadable, piece);
      }
    }
    EXPECT_EQ(result.failure.has_value(), m == 9 % members || m == 10 % members || m == 20 % members);
  }
}

TEST(Tape, PartsAreTheWholePieceInOrder) {
  std::vector<StagedFile> files(3000);
  for (std::size_t i = 0; i < files.size(); ++i) files[i].digest.size_bytes = i % 97 == 0 ? 900'000 : i % 3000;
  files[500].digest.size_bytes = 2 * chunk_size_bytes + 1;
  const Tape tape(std::move(files));
  for (const Piece& piece : tape.pieces()) {
    const auto parts = tape.parts(piece);
    std::uint32_t offset = 0, file = piece.first;
    for (const PiecePart& part : parts) {
      EXPECT_EQ(part.offset, offset);
      EXPECT_EQ(part.first, file);
      EXPECT_LT(part.bytes, 2 * Tape::part_bytes);
      offset += part.bytes;
      if (!tape.is_chunk(piece)) file += part.files;
    }
    EXPECT_EQ(offset, piece.bytes);
    EXPECT_EQ(file, tape.is_chunk(piece) ? piece.first : piece.first + piece.files);
    EXPECT_LE(parts.size(), 4U);
  }
}

}  // namespace
}  // namespace sabath::test
