// How fast are 64 leaves of 64 KiB hashed: one after the other by OpenSSL, by each kernel that this CPU can run, and by
// the one that is chosen? Each round runs all of them in turn, so that they meet the same machine; rates are of each
// one's best round. OPENSSL_ia32cap=:~0x20000000 hides the SHA extensions, to see a CPU without them.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/sha256/sha256_choice.h"
#include "base/sha256/sha256_lanes.h"

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

struct Way {
  std::string name;
  std::function<void()> work;
  double best_seconds = 1e9;
};

// Each way in turn; rates are of `chunk` and of each one's best round.
void run_all(benchmark::State& state, std::vector<Way>& ways, const std::function<bool()>& right) {
  for (auto _ : state) {
    for (Way& way : ways) {
      const auto begin = std::chrono::steady_clock::now();
      way.work();
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
      way.best_seconds = std::min(way.best_seconds, passed.count());
      if (!right()) state.SkipWithError("wrong hashes");
    }
  }
  for (const Way& way : ways) {
    state.counters[way.name + "_GB/s"] = static_cast<double>(chunk_size_bytes) / way.best_seconds / 1e9;
  }
}

std::vector<Sha256Choice> forced_choices(std::vector<std::string>& names) {
  std::vector<Sha256Choice> choices;
  for (const auto& kernel : sha256_kernels(sha256_cpu())) {
    choices.emplace_back(kernel, Sha256Along{});
    names.emplace_back(kernel.name);
  }
  return choices;
}

void leaves_of_a_chunk(benchmark::State& state) {
  const auto chunk = one_chunk();
  const auto leaves = leaves_of(chunk, leaves_per_chunk);
  Hashes expected, hashes;
  by_stream(chunk, expected);
  std::vector<std::string> names;
  const auto choices = forced_choices(names);
  std::vector<Way> ways{{"openssl", [&] { by_stream(chunk, hashes); }},
                        {"chosen", [&] { sha256_pieces(chunk, leaf_size_bytes, hashes); }}};
  for (std::size_t i = 0; i < choices.size(); ++i) {
    ways.push_back({names[i], [&, i] {
                      if (choices[i].hash(leaves, leaf_size_bytes, hashes) != hashes.size()) hashes = {};
                    }});
  }
  run_all(state, ways, [&] { return hashes == expected; });
}

// A chunk's leaves and the checksum of the file that it is a part of: each by itself, as chosen, and by each kernel.
void leaves_and_stream(benchmark::State& state) {
  const auto chunk = one_chunk();
  Hashes expected, hashes;
  by_stream(chunk, expected);
  std::vector<Way> ways{{"apart",
                         [&] {
                           StreamSha256 stream;
                           sha256_pieces(chunk, leaf_size_bytes, hashes);
                           stream.update(chunk);
                         }},
                        {"chosen", [&] {
                           StreamSha256 stream;
                           stream.update(chunk, leaf_size_bytes, hashes);
                         }}};
  const auto alongs = sha256_alongs(sha256_cpu());
  for (const auto& along : alongs) {
    ways.push_back({std::string(along.name), [&] {
                      std::array<std::uint32_t, 8> words{};
                      const Sha256Choice choice({}, along);
                      if (choice.hash_along(words.data(), chunk, leaf_size_bytes, hashes) != hashes.size()) hashes = {};
                    }});
  }
  run_all(state, ways, [&] { return hashes == expected; });
}

// A group takes its time however many of its lanes are idle: is what is chosen for few messages faster than the stream?
void pieces(benchmark::State& state) {
  const auto chunk = one_chunk();
  const auto count = static_cast<std::size_t>(state.range(0));
  std::vector<Sha256> hashes(count);
  double stream = 1e9, chosen = 1e9;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < count; ++i) {
      hashes[i] = sha256(std::span(chunk).subspan(i * leaf_size_bytes, leaf_size_bytes));
    }
    const auto middle = std::chrono::steady_clock::now();
    sha256_pieces(std::span(chunk).first(count * leaf_size_bytes), leaf_size_bytes, hashes);
    const auto end = std::chrono::steady_clock::now();
    stream = std::min(stream, std::chrono::duration<double>(middle - begin).count());
    chosen = std::min(chosen, std::chrono::duration<double>(end - middle).count());
  }
  state.counters["chosen_x"] = stream / chosen;
}

BENCHMARK(leaves_and_stream)->Unit(benchmark::kMillisecond)->MinTime(1);
BENCHMARK(leaves_of_a_chunk)->Unit(benchmark::kMillisecond)->MinTime(3);
BENCHMARK(pieces)->DenseRange(2, 10)->Arg(17)->Arg(24)->Unit(benchmark::kMillisecond)->MinTime(0.3);

}  // namespace
}  // namespace sabath
