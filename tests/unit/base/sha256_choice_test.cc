// The choice of a kernel: by the time that each one needs, and never one that is wrong.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/sha256/sha256_choice.h"
#include "sabath/error.h"

namespace sabath {
namespace {

void by_stream(std::span<const std::byte> message, Sha256& hash) { hash = sha256(message); }

// `lanes` lanes that do the work of the stream, `times` over.
template <std::size_t lanes, int times>
void slow_lanes(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept {
  for (std::size_t i = 0; i < lanes; ++i) {
    Sha256 hash;
    for (int again = 0; again < times; ++again) hash = sha256(std::span(messages[i], size_bytes));
    std::memcpy(hashes + i * Sha256::size, hash.bytes().data(), Sha256::size);
  }
}

template <std::size_t lanes>
void no_hash(const std::byte* const*, std::size_t, std::uint8_t* hashes) noexcept {
  std::memset(hashes, 0, lanes * Sha256::size);
}

void slow_along(std::uint32_t*, const std::byte* bytes, std::size_t piece_size, std::uint8_t* hashes) noexcept {
  slow_lanes<1, 200>(&bytes, piece_size, hashes);
}

void no_along(std::uint32_t*, const std::byte*, std::size_t, std::uint8_t* hashes) noexcept {
  std::memset(hashes, 0, Sha256::size);
}

std::string taken(const Sha256Choice& choice) {
  std::string names;
  for (std::size_t left = 0; left <= 64; ++left) names += std::string(choice.kernel_for(left).name) + " ";
  return names + std::string(choice.along().name);
}

TEST(Sha256Choice, NeverTakesOneThatIsAHundredTimesSlower) {
  const Sha256Candidates candidates{.stream = by_stream,
                                    .kernels = {{"slow2", 2, slow_lanes<2, 100>}, {"slow32", 32, slow_lanes<32, 100>}},
                                    .alongs = {{"slow+stream", 1, slow_along}}};
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    const Sha256Timings timings = time_sha256(candidates);
    EXPECT_GT(timings.kernels[0].seconds_per_byte, timings.stream.seconds_per_byte);
    EXPECT_FALSE(timings.kernels[0].wrong || timings.kernels[1].wrong || timings.alongs[0].wrong);
    EXPECT_EQ(taken({candidates, timings, 2}).find("slow"), std::string::npos) << taken({candidates, timings, 2});
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  RecordProperty("milliseconds_each", std::to_string(passed.count() * 1000 / 20));
}

TEST(Sha256Choice, NeverTakesOneThatIsWrong) {
  const Sha256Candidates candidates{.stream = by_stream,
                                    .kernels = {{"none8", 8, no_hash<8>}, {"none32", 32, no_hash<32>}},
                                    .alongs = {{"none+stream", 1, no_along}}};
  const Sha256Timings timings = time_sha256(candidates);
  EXPECT_TRUE(timings.kernels[0].wrong && timings.kernels[1].wrong && timings.alongs[0].wrong);
  EXPECT_EQ(taken({candidates, timings, 2}).find("none"), std::string::npos);
}

// Rates of real CPUs, in GB/s.
TEST(Sha256Choice, TakesTheQuickestForEachNumber) {
  struct Case {
    const char* cpu;
    unsigned cores;
    double stream;
    std::map<std::string, double> rates;
    std::map<std::size_t, std::string> kernels;  // by how many messages are left
    std::string along;
  };
  const std::vector<Case> table{
      {"Haswell", 2, 0.5, {{"avx2", 1.65}}, {{1, ""}, {2, ""}, {3, "avx2"}, {64, "avx2"}}, ""},
      {"Zen 3",
       2,
       1.53,
       {{"sha-ni", 2.91}, {"avx2", 1.58}, {"sha-ni+stream", 1.57}},
       {{1, ""}, {2, "sha-ni"}, {3, "sha-ni"}, {64, "sha-ni"}},
       "sha-ni+stream"},
      {"Zen 3, more cores",
       64,
       1.53,
       {{"sha-ni", 2.91}, {"avx2", 1.58}, {"sha-ni+stream", 1.57}},
       {{64, "sha-ni"}},
       "sha-ni+stream"},
      {"Emerald Rapids",
       2,
       2.04,
       {{"sha-ni", 2.76},
        {"avx2", 1.82},
        {"avx512", 4.46},
        {"avx512x2", 4.28},
        {"sha-ni+stream", 1.36},
        {"avx512+stream", 0.015}},
       {{1, ""}, {2, "sha-ni"}, {9, "sha-ni"}, {10, "avx512"}, {16, "avx512"}, {32, "avx512"}, {64, "avx512"}},
       ""},
      {"Zen 5",
       2,
       1.9,
       {{"sha-ni", 2.66},
        {"avx2", 1.71},
        {"avx512", 4.06},
        {"avx512x2", 5.4},
        {"sha-ni+stream", 1.33},
        {"avx512+stream", 1.89}},
       {{8, "sha-ni"}, {16, "avx512"}, {32, "avx512x2"}, {64, "avx512x2"}},
       "avx512+stream"},
      {"Zen 5, more cores", 16, 1.9, {{"avx512x2", 5.4}, {"avx512+stream", 1.75}}, {{64, "avx512x2"}}, ""}};
  const std::map<std::string, std::size_t> lanes{{"sha-ni", 2}, {"avx2", 8}, {"avx512", 16}, {"avx512x2", 32}};
  for (const Case& c : table) {
    Sha256Candidates candidates{.stream = by_stream, .kernels = {}, .alongs = {}};
    Sha256Timings timings{.stream = {"openssl", 1 / c.stream}, .kernels = {}, .alongs = {}};
    for (const auto& [name, rate] : c.rates) {
      if (const auto width = lanes.find(name); width != lanes.end()) {
        candidates.kernels.push_back({name, width->second, nullptr});
        timings.kernels.push_back({name, 1 / rate});
      } else {
        candidates.alongs.push_back({name, 1, nullptr});
        timings.alongs.push_back({name, 1 / rate});
      }
    }
    const Sha256Choice choice(candidates, timings, c.cores);
    for (const auto& [left, name] : c.kernels) EXPECT_EQ(choice.kernel_for(left).name, name) << c.cpu << ", " << left;
    EXPECT_EQ(choice.along().name, c.along) << c.cpu;
  }
}

TEST(HashKernels, OneIsForced) {
  EXPECT_THROW(force_hash_kernel("abacus"), Error);
  const HashKernels measured = hash_kernels();
  EXPECT_TRUE(measured.wrong.empty());
  const std::vector<std::byte> bytes(chunk_size_bytes, std::byte{3});
  std::vector<Sha256> expected(leaves_per_chunk, sha256(std::span(bytes).first(leaf_size_bytes))),
      hashes(expected.size());
  for (const auto& [name, rate] : measured.bytes_per_second) {
    force_hash_kernel(name);
    const HashKernels now = hash_kernels();
    EXPECT_EQ(now.pieces, name.substr(0, name.find('+')));
    EXPECT_EQ(now.with_stream, name.find('+') == std::string::npos ? "" : name);
    StreamSha256 stream;
    stream.update(bytes, leaf_size_bytes, hashes);
    EXPECT_EQ(hashes, expected) << name;
    EXPECT_EQ(stream.finish(), sha256(bytes)) << name;
  }
}

}  // namespace
}  // namespace sabath
