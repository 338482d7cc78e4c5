// Chunks' memory: whole pages of its own, used again, and given back to the system.
#include "fetch/transfer/chunk_buffers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

namespace sabath {
namespace {

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

ChunkBuffers::Buffer written(ChunkBuffers& buffers) {
  auto buffer = buffers.take();
  std::memset(buffer.get(), 1, chunk_size_bytes);
  return buffer;
}

TEST(ChunkBuffers, AreUsedAgain) {
  ChunkBuffers buffers;
  const std::byte* const first = buffers.take().get();  // and it goes back
  EXPECT_EQ(buffers.take().get(), first);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % (std::size_t{2} << 20), 0U) << "it begins a huge page";
}

TEST(ChunkBuffers, WhatGoesBackIsTheSystems) {
#ifdef __has_feature  // which gcc 12 has not, and all builds with sanitizers are clang's
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer's own memory of it stays";
#endif
#endif
  constexpr std::size_t count = 32;
  ChunkBuffers buffers;
  const std::size_t before = resident_bytes();
  {
    std::vector<ChunkBuffers::Buffer> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(written(buffers));
    EXPECT_GE(resident_bytes(), before + count * chunk_size_bytes);
  }
  EXPECT_LE(resident_bytes(), before + (ChunkBuffers::idle_max + 2) * chunk_size_bytes) << "a few are kept";
}

}  // namespace
}  // namespace sabath
