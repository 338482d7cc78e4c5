// The hash that follows the front: chunks in every order, kept and read back, from many threads.
#include "fetch/transfer/front_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <latch>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "manifest/file_tree.h"
#include "sabath/error.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

constexpr std::uint64_t chunks = 40, size = chunks * chunk_size_bytes - 1000;

struct File {
  std::string bytes = seeded_bytes(3, 0, size);
  Checksums sums;
  File() { sums.sha256 = sha256(bytes).hex(); }
  std::size_t read(std::uint64_t offset, std::span<std::byte> into) const {
    std::memcpy(into.data(), bytes.data() + offset, into.size());
    return into.size();
  }
  [[nodiscard]] Sha256 hash(std::uint64_t index) const {
    return hash_chunk(std::as_bytes(std::span(bytes)).subspan(index * chunk_size_bytes, chunk_length(size, index)));
  }
  [[nodiscard]] ChunkBuffers::Buffer chunk(ChunkBuffers& buffers, std::uint64_t index) const {
    auto buffer = buffers.take();
    std::memcpy(buffer.get(), bytes.data() + index * chunk_size_bytes, chunk_length(size, index));
    return buffer;
  }
};

const File& file() {
  static const File one;
  return one;
}

// Both ways: with all chunks hashed before they are offered, and with the leaves of what is near taken along.
class FrontHashes : public testing::TestWithParam<bool> {
 protected:
  // Acts as a lane that brings a chunk. True: the chunk was held back.
  bool bring(FrontHash& hash, std::uint64_t index, ChunkBuffers::Buffer bytes) {
    const auto turn = hash.await_turn(index, true, {});
    if (!turn.unhashed) note(index, file().hash(index));
    hash.offer(index, std::move(bytes), turn);
    return turn.held_back;
  }
  bool bring(FrontHash& hash, std::uint64_t index) { return bring(hash, index, file().chunk(buffers, index)); }
  void present(FrontHash& hash, std::uint64_t index) {
    note(index, file().hash(index));
    hash.present(index);
  }

  // Only what has its hash can be read back, as it is with a partial.
  [[nodiscard]] FrontHash::Calls calls() {
    return {.read =
                [this](std::uint64_t offset, std::span<std::byte> into) {
                  const std::lock_guard lock(mutex);
                  EXPECT_TRUE(noted.contains(offset / chunk_size_bytes)) << "chunk " << offset / chunk_size_bytes;
                  return file().read(offset, into);
                },
            .hashed = [this](std::uint64_t index, const Sha256& of) { note(index, of); }};
  }
  [[nodiscard]] FrontHash::Calls calls_that_wait_for(std::latch& open) {
    auto slow = calls();
    slow.read = [&open](std::uint64_t offset, std::span<std::byte> into) {
      open.wait();
      return file().read(offset, into);
    };
    return slow;
  }
  void note(std::uint64_t index, const Sha256& of) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(noted.emplace(index, of).second) << "chunk " << index << " was hashed twice";
  }
  void expect_all_hashed() {
    const std::lock_guard lock(mutex);
    ASSERT_EQ(noted.size(), chunks);
    for (const auto& [index, of] : noted) EXPECT_EQ(of, file().hash(index)) << "chunk " << index;
  }

  ChunkBuffers buffers;
  std::mutex mutex;
  std::map<std::uint64_t, Sha256> noted;
};
INSTANTIATE_TEST_SUITE_P(Leaves, FrontHashes, testing::Bool(),
                         [](const auto& info) { return info.param ? "taken" : "not_taken"; });

TEST_P(FrontHashes, ChunksInOrderAreNeverReadBack) {
  FrontHash hash(file().sums, size, buffers, calls(), GetParam());
  for (std::uint64_t i = 0; i < chunks; ++i) bring(hash, i);
  EXPECT_EQ(hash.finish("f", {}).sha256, file().sums.sha256);
  EXPECT_EQ(hash.read_back(), 0U);
  expect_all_hashed();
}

TEST_P(FrontHashes, ManyThreadsInAnyOrder) {
  std::mt19937 random(7);
  for (int round = 0; round < 6; ++round) {
    noted.clear();
    FrontHash hash(file().sums, size, buffers, calls(), GetParam());
    std::vector<std::uint64_t> order(chunks);
    for (std::uint64_t i = 0; i < chunks; ++i) order[i] = i;
    // Lanes bring chunks near their order; in the last rounds in none.
    if (round < 4) {
      for (std::uint64_t i = 0; i + 8 <= chunks; i += 8) {
        std::shuffle(order.begin() + static_cast<std::ptrdiff_t>(i), order.begin() + static_cast<std::ptrdiff_t>(i + 8),
                     random);
      }
    } else {
      std::shuffle(order.begin(), order.end(), random);
    }
    std::atomic<std::uint64_t> next{0};
    {
      std::vector<std::jthread> lanes;
      for (int lane = 0; lane < 8; ++lane) {
        lanes.emplace_back([&] {
          for (std::uint64_t at = next++; at < chunks; at = next++) bring(hash, order[at]);
        });
      }
    }
    EXPECT_EQ(hash.finish("f", {}).sha256, file().sums.sha256);
    expect_all_hashed();
  }
}

TEST_P(FrontHashes, WhatIsPresentIsReadBack) {
  FrontHash hash(file().sums, size, buffers, calls(), GetParam());
  for (std::uint64_t i = 0; i < chunks; i += 2) present(hash, i);
  for (std::uint64_t i = 1; i < chunks; i += 2) bring(hash, i);
  EXPECT_EQ(hash.finish("f", {}).sha256, file().sums.sha256);
  EXPECT_GE(hash.read_back(), chunks / 2 * chunk_size_bytes);
  expect_all_hashed();
}

// The first chunk is long in coming: a kill takes only what is on its way, so nothing waits for it without its hash.
TEST_P(FrontHashes, WhatWaitsForAnEarlierOneIsHashed) {
  FrontHash hash(file().sums, size, buffers, calls(), GetParam());
  for (std::uint64_t i = 1; i < chunks; ++i) EXPECT_FALSE(bring(hash, i));
  const auto all_noted = [&] {
    const std::lock_guard lock(mutex);
    return noted.size() == chunks - 1;
  };
  for (int i = 0; i < 1000 && !all_noted(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(all_noted());
  bring(hash, 0);
  EXPECT_EQ(hash.finish("f", {}).sha256, file().sums.sha256);
  EXPECT_LE(hash.read_back(), (chunks - FrontHash::kept_max) * chunk_size_bytes);
  expect_all_hashed();
}

TEST_P(FrontHashes, SaysWhoWaitedForIt) {
  std::latch open{1}, begun{1};
  FrontHash hash(file().sums, size, buffers, calls_that_wait_for(open), GetParam());
  present(hash, 0);
  for (std::uint64_t i = 1; i < FrontHash::kept_max; ++i) EXPECT_FALSE(bring(hash, i));
  bool held_back = false;
  {
    const std::jthread lane([&] {
      auto bytes = file().chunk(buffers, FrontHash::kept_max);
      begun.count_down();
      held_back = bring(hash, FrontHash::kept_max, std::move(bytes));
    });
    begun.wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    open.count_down();
  }
  EXPECT_TRUE(held_back);
  for (std::uint64_t i = FrontHash::kept_max + 1; i < chunks; ++i) present(hash, i);
  EXPECT_EQ(hash.finish("f", {}).sha256, file().sums.sha256);
}

// A lane that is far ahead waits for a thread that has work; this does not mean that all do: others may be slower.
TEST_P(FrontHashes, OneFarAheadIsNotHeldBackWhileLittleIsKept) {
  std::latch open{1};
  FrontHash hash(file().sums, size, buffers, calls_that_wait_for(open), GetParam());
  present(hash, 0);
  std::atomic<bool> through = false;
  bool held_back = true;
  {
    const std::jthread lane([&] {
      held_back = bring(hash, chunks - 1);
      through = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(through);
    open.count_down();
  }
  EXPECT_FALSE(held_back);
  for (std::uint64_t i = 1; i + 1 < chunks; ++i) bring(hash, i);
  EXPECT_EQ(hash.finish("f", {}).sha256, file().sums.sha256);
  expect_all_hashed();
}

TEST_P(FrontHashes, AWrongByteIsAContentFailure) {
  FrontHash hash(file().sums, size, buffers, calls(), GetParam());
  for (std::uint64_t i = 0; i < chunks; ++i) {
    auto bytes = file().chunk(buffers, i);
    if (i == 9) bytes[17] ^= std::byte{1};
    bring(hash, i, std::move(bytes));
  }
  EXPECT_THROW((void)hash.finish("f", {}), Error);
}

// A source says its hash with an answer, when some of the file is there.
TEST_P(FrontHashes, WhatIsExpectedLateIsComparedFromTheFirstByte) {
  FrontHash hash({}, size, buffers, calls(), GetParam());
  present(hash, 0);
  for (std::uint64_t i = 1; i < 5; ++i) bring(hash, i);
  hash.expect(file().sums);
  for (std::uint64_t i = 5; i < chunks; ++i) bring(hash, i);
  EXPECT_EQ(hash.finish("f", {}, SaidBy::source).sha256, file().sums.sha256);
}

TEST_P(FrontHashes, WhatIsExpectedLateAndWrongIsAContentFailure) {
  Checksums wrong;
  wrong.sha256 = std::string(64, 'a');
  FrontHash hash({}, size, buffers, calls(), GetParam());
  hash.expect(wrong);
  for (std::uint64_t i = 0; i < chunks; ++i) bring(hash, i);
  EXPECT_THROW((void)hash.finish("f", {}, SaidBy::source), Error);
}

TEST_P(FrontHashes, AFailureToReadEndsWhoeverWaits) {
  auto broken = calls();
  broken.read = [](std::uint64_t, std::span<std::byte>) -> std::size_t {
    throw Error(FailureKind::storage, "the disk is gone");
  };
  FrontHash hash(file().sums, size, buffers, broken, GetParam());
  present(hash, 0);
  for (std::uint64_t i = 1; i < chunks; ++i) bring(hash, i);
  EXPECT_THROW((void)hash.finish("f", {}), Error);
}

TEST(FrontHash, AHashThatCannotBeNotedEndsWhoeverWaits) {
  ChunkBuffers buffers;
  const FrontHash::Calls calls{
      .read = [](std::uint64_t offset, std::span<std::byte> into) { return file().read(offset, into); },
      .hashed = [](std::uint64_t, const Sha256&) { throw Error(FailureKind::storage, "the disk is full"); }};
  FrontHash hash(file().sums, size, buffers, calls, true);
  for (std::uint64_t i = 0; i < chunks; ++i) hash.offer(i, file().chunk(buffers, i), hash.await_turn(i, true, {}));
  EXPECT_THROW((void)hash.finish("f", {}), Error);
}

// A fetch that is stopped leaves each chunk with its hash, so that the next one need not fetch it; and it stops reading
// the chunks that an earlier one left.
TEST_P(FrontHashes, WhoeverIsStoppedLeavesNothingUnhashed) {
  std::atomic<std::uint64_t> reads = 0;
  std::latch begun{1}, all_there{1};
  auto slow = calls();
  slow.read = [&](std::uint64_t offset, std::span<std::byte> into) {
    if (reads++ == 0) begun.count_down();
    all_there.wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the stop comes meanwhile
    return file().read(offset, into);
  };
  {
    FrontHash hash(file().sums, size, buffers, slow, GetParam());
    present(hash, 0);
    begun.wait();
    for (std::uint64_t i = FrontHash::kept_max; i < chunks; ++i) present(hash, i);
    for (std::uint64_t i = 1; i < FrontHash::kept_max; ++i) bring(hash, i);
    all_there.count_down();
  }
  EXPECT_EQ(reads, 1U);
  expect_all_hashed();
}

TEST_P(FrontHashes, AStopEndsTheWait) {
  FrontHash hash(file().sums, size, buffers, calls(), GetParam());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW((void)hash.finish("f", stop.get_token()), Error);
}

TEST(FrontHash, WhatWasLongInComingIsHashedFirst) {
  ChunkBuffers buffers;
  FrontHash hash(file().sums, size, buffers, {}, true);
  EXPECT_TRUE(hash.await_turn(0, true, {}).unhashed);
  EXPECT_FALSE(hash.await_turn(0, false, {}).unhashed);
  EXPECT_FALSE(hash.await_turn(FrontHash::kept_max, true, {}).unhashed) << "far ahead";
}

// Nothing but a SHA-256 takes leaves along.
TEST(FrontHash, WithoutASha256ChunksComeWithTheirHash) {
  ChunkBuffers buffers;
  Checksums sums;
  sums.md5 = std::string(32, '0');
  FrontHash hash(sums, size, buffers, {}, true);
  EXPECT_FALSE(hash.await_turn(0, true, {}).unhashed);
  FrontHash none({}, size, buffers, {}, true);
  EXPECT_FALSE(none.await_turn(0, true, {}).unhashed);
}

}  // namespace
}  // namespace sabath::test
