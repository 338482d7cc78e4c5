// The hash that follows the front: chunks in every order, kept and read back, from many threads.
#include "fetch/front_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <latch>
#include <random>
#include <thread>

#include "sabath/error.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

constexpr std::uint64_t chunks = 40, size = chunks * chunk_size_bytes - 1000;

struct File {
  std::string bytes = seeded_bytes(3, 0, size);
  Checksums sums;
  File() { sums.sha256 = sha256(bytes).hex(); }
  [[nodiscard]] FrontHash::Read read() const {
    return [this](std::uint64_t offset, std::span<std::byte> into) {
      std::memcpy(into.data(), bytes.data() + offset, into.size());
      return into.size();
    };
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

TEST(FrontHash, ChunksInOrderAreNeverReadBack) {
  ChunkBuffers buffers;
  FrontHash hash(file().sums, size, buffers, file().read());
  for (std::uint64_t i = 0; i < chunks; ++i) hash.offer(i, file().chunk(buffers, i), {});
  EXPECT_EQ(hash.finish("f", {}).sha256, file().sums.sha256);
  EXPECT_EQ(hash.read_back(), 0U);
}

TEST(FrontHash, ManyThreadsInAnyOrder) {
  std::mt19937 random(7);
  for (int round = 0; round < 6; ++round) {
    ChunkBuffers buffers;
    FrontHash hash(file().sums, size, buffers, file().read());
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
          for (std::uint64_t at = next++; at < chunks; at = next++) {
            hash.offer(order[at], file().chunk(buffers, order[at]), {});
          }
        });
      }
    }
    EXPECT_EQ(hash.finish("f", {}).sha256, file().sums.sha256);
  }
}

TEST(FrontHash, WhatIsPresentIsReadBack) {
  ChunkBuffers buffers;
  FrontHash hash(file().sums, size, buffers, file().read());
  for (std::uint64_t i = 0; i < chunks; i += 2) hash.present(i);
  for (std::uint64_t i = 1; i < chunks; i += 2) hash.offer(i, file().chunk(buffers, i), {});
  EXPECT_EQ(hash.finish("f", {}).sha256, file().sums.sha256);
  EXPECT_GE(hash.read_back(), chunks / 2 * chunk_size_bytes);
}

TEST(FrontHash, SaysWhoWaitedForIt) {
  ChunkBuffers buffers;
  std::latch open{1};
  FrontHash hash(file().sums, size, buffers, [&](std::uint64_t offset, std::span<std::byte> into) {
    open.wait();
    return file().read()(offset, into);
  });
  hash.present(0);
  for (std::uint64_t i = 1; i <= FrontHash::kept_max; ++i) EXPECT_FALSE(hash.offer(i, file().chunk(buffers, i), {}));
  bool waited = false;
  {
    const std::jthread lane([&] {
      const std::uint64_t next = FrontHash::kept_max + 1;
      waited = hash.offer(next, file().chunk(buffers, next), {});
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    open.count_down();
  }
  EXPECT_TRUE(waited);
  for (std::uint64_t i = FrontHash::kept_max + 2; i < chunks; ++i) hash.present(i);
  EXPECT_EQ(hash.finish("f", {}).sha256, file().sums.sha256);
}

TEST(FrontHash, AWrongByteIsAContentFailureAndARestartForgetsIt) {
  ChunkBuffers buffers;
  FrontHash hash(file().sums, size, buffers, file().read());
  for (std::uint64_t i = 0; i < chunks; ++i) {
    auto bytes = file().chunk(buffers, i);
    if (i == 9) bytes[17] ^= std::byte{1};
    hash.offer(i, std::move(bytes), {});
  }
  EXPECT_THROW((void)hash.finish("f", {}), Error);
  hash.restart();
  for (std::uint64_t i = 0; i < chunks; ++i) hash.present(i);
  EXPECT_EQ(hash.finish("f", {}).sha256, file().sums.sha256);
}

TEST(FrontHash, AFailureToReadEndsWhoeverWaits) {
  ChunkBuffers buffers;
  FrontHash hash(file().sums, size, buffers, [](std::uint64_t, std::span<std::byte>) -> std::size_t {
    throw Error(FailureKind::storage, "the disk is gone");
  });
  hash.present(0);
  for (std::uint64_t i = 1; i < chunks; ++i) hash.offer(i, file().chunk(buffers, i), {});
  EXPECT_THROW((void)hash.finish("f", {}), Error);
}

TEST(FrontHash, AStopEndsTheWait) {
  ChunkBuffers buffers;
  FrontHash hash(file().sums, size, buffers, file().read());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW((void)hash.finish("f", stop.get_token()), Error);
}

}  // namespace
}  // namespace sabath::test
