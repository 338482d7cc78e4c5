// How fast are 64 leaves of 64 KiB hashed: one after the other by OpenSSL, 2, 8, 16 or 32 side by side, and as shipped?
// Each round runs all of them in turn, so that they meet the same machine; rates and ratios are of each one's best
// round. OPENSSL_ia32cap=:~0x20000000 hides the SHA extensions, to see a CPU without them.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "base/hash.h"
#include "base/sha256_lanes.h"

namespace sabath {
namespace {

std::vector<std::byte> one_chunk() {
  std::vector<std::byte> bytes(chunk_size_bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 2'654'435'761U >> 24);
  return bytes;
}

std::vector<const std::byte*> leaves_of(std::span<const std::byte> chunk, std::size_t count) {
  std::vector<const std::byte*> leaves;
  for (std::size_t i = 0; i < count; ++i) leaves.push_back(chunk.data() + i * leaf_size_bytes);
  return leaves;
}

using Hashes = std::array<Sha256, leaves_per_chunk>;

void by_stream(std::span<const std::byte> chunk, Hashes& hashes) {
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    hashes[i] = sha256(chunk.subspan(i * leaf_size_bytes, leaf_size_bytes));
  }
}

template <std::size_t lanes>
void by_lanes(std::span<const std::byte> chunk, Hashes& hashes) {
  if (sha256_in_lanes({lanes, lanes}, leaves_of(chunk, hashes.size()), leaf_size_bytes, hashes) != hashes.size())
    hashes = {};
}

void as_shipped(std::span<const std::byte> chunk, Hashes& hashes) { sha256_pieces(chunk, leaf_size_bytes, hashes); }

struct Way {
  const char* name;
  void (*hash)(std::span<const std::byte>, Hashes&);
  bool here;
  double best_seconds = 1e9;
};

void leaves_of_a_chunk(benchmark::State& state) {
  const auto chunk = one_chunk();
  const Sha256Cpu cpu = sha256_cpu();
  std::array<Way, 6> ways{{{"stream", by_stream, true},
                           {"lanes2", by_lanes<2>, cpu.sha},
                           {"lanes8", by_lanes<8>, cpu.avx2},
                           {"lanes16", by_lanes<16>, cpu.avx512},
                           {"lanes32", by_lanes<32>, cpu.avx512},
                           {"shipped", as_shipped, true}}};
  Hashes expected, hashes;
  by_stream(chunk, expected);
  for (auto _ : state) {
    for (Way& way : ways) {
      if (!way.here) continue;
      const auto begin = std::chrono::steady_clock::now();
      way.hash(chunk, hashes);
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
      way.best_seconds = std::min(way.best_seconds, passed.count());
      if (hashes != expected) state.SkipWithError("wrong hashes");
    }
  }
  for (const Way& way : ways) {
    if (!way.here) continue;
    state.counters[fmt::format("{}_GB/s", way.name)] = static_cast<double>(chunk.size()) / way.best_seconds / 1e9;
    state.counters[fmt::format("{}_x", way.name)] = ways[0].best_seconds / way.best_seconds;
  }
}

// A group takes its time however many of its lanes are idle: from how many messages on is it faster than the stream?
void pieces(benchmark::State& state) {
  const auto chunk = one_chunk();
  const auto count = static_cast<std::size_t>(state.range(0));
  const Sha256Plan plan = sha256_plan(sha256_cpu());
  const auto leaves = leaves_of(chunk, count);
  std::vector<Sha256> hashes(count);
  double stream = 1e9, group = 1e9;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < count; ++i) {
      hashes[i] = sha256(std::span(chunk).subspan(i * leaf_size_bytes, leaf_size_bytes));
    }
    const auto middle = std::chrono::steady_clock::now();
    if (sha256_in_lanes({plan.lanes, 1}, leaves, leaf_size_bytes, hashes) != count)
      state.SkipWithError("no lanes here");
    const auto end = std::chrono::steady_clock::now();
    stream = std::min(stream, std::chrono::duration<double>(middle - begin).count());
    group = std::min(group, std::chrono::duration<double>(end - middle).count());
  }
  state.counters["group_x"] = stream / group;
  state.counters["group_is_chosen"] = sha256_group(plan, count) != 0 ? 1 : 0;
}

// A chunk's leaves and the checksum of the file that it is a part of: each by itself, and both as shipped.
void leaves_and_stream(benchmark::State& state) {
  const auto chunk = one_chunk();
  Hashes hashes;
  double apart = 1e9, together = 1e9;
  for (auto _ : state) {
    StreamSha256 one, other;
    const auto begin = std::chrono::steady_clock::now();
    sha256_pieces(chunk, leaf_size_bytes, hashes);
    one.update(chunk);
    const auto middle = std::chrono::steady_clock::now();
    other.update(chunk, leaf_size_bytes, hashes);
    const auto end = std::chrono::steady_clock::now();
    apart = std::min(apart, std::chrono::duration<double>(middle - begin).count());
    together = std::min(together, std::chrono::duration<double>(end - middle).count());
    if (one.finish() != other.finish()) state.SkipWithError("wrong hashes");
  }
  state.counters["apart_GB/s"] = static_cast<double>(chunk.size()) / apart / 1e9;
  state.counters["together_GB/s"] = static_cast<double>(chunk.size()) / together / 1e9;
  state.counters["along"] = StreamSha256::takes_pieces_along() ? 1 : 0;
}

BENCHMARK(leaves_and_stream)->Unit(benchmark::kMillisecond)->MinTime(1);
BENCHMARK(leaves_of_a_chunk)->Unit(benchmark::kMillisecond)->MinTime(3);
BENCHMARK(pieces)->DenseRange(2, 10)->Arg(17)->Arg(24)->Unit(benchmark::kMillisecond)->MinTime(0.3);

}  // namespace
}  // namespace sabath
