// Every width of side-by-side SHA-256 that this CPU has, against published vectors and OpenSSL's.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/sha256_lanes.h"

namespace sabath {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::vector<std::byte> random_bytes(std::mt19937_64& random, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(Sha256Plan, FollowsTheCpu) {
  const std::pair<Sha256Cpu, Sha256Plan> table[] = {
      {{.sha = false, .avx2 = false, .avx512 = false}, {0, 0}}, {{.sha = true, .avx2 = false, .avx512 = false}, {2, 2}},
      {{.sha = false, .avx2 = true, .avx512 = false}, {8, 3}},  {{.sha = true, .avx2 = true, .avx512 = false}, {2, 2}},
      {{.sha = false, .avx2 = true, .avx512 = true}, {32, 3}},  {{.sha = true, .avx2 = true, .avx512 = true}, {32, 8}}};
  for (const auto& [cpu, plan] : table) {
    EXPECT_EQ(sha256_plan(cpu), plan) << "sha " << cpu.sha << ", avx2 " << cpu.avx2 << ", avx512 " << cpu.avx512;
  }
}

TEST(Sha256Plan, GroupsWhatIsLeft) {
  struct Case {
    Sha256Plan plan;
    std::size_t left, group;
  };
  for (const Case& c :
       {Case{{32, 8}, 64, 32}, Case{{32, 8}, 17, 17}, Case{{32, 8}, 7, 0}, Case{{16, 8}, 64, 16}, Case{{16, 8}, 16, 16},
        Case{{16, 8}, 15, 15}, Case{{16, 8}, 8, 8}, Case{{16, 8}, 7, 0}, Case{{16, 8}, 0, 0}, Case{{8, 3}, 9, 8},
        Case{{8, 3}, 3, 3}, Case{{8, 3}, 2, 0}, Case{{2, 2}, 3, 2}, Case{{2, 2}, 1, 0}, Case{{0, 0}, 64, 0},
        Case{{0, 0}, 0, 0}, Case{{8, 1}, 0, 0}}) {
    EXPECT_EQ(sha256_group(c.plan, c.left), c.group) << c.plan.lanes << " lanes, " << c.left << " left";
  }
}

class Sha256Lanes : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    const Sha256Cpu cpu = sha256_cpu();
    if (GetParam() == 2 && !cpu.sha) GTEST_SKIP() << "this CPU has no SHA extensions";
    if (GetParam() == 8 && !cpu.avx2) GTEST_SKIP() << "this CPU has no AVX2";
    if (GetParam() >= 16 && !cpu.avx512) GTEST_SKIP() << "this CPU has no AVX-512 F and BW";
  }

  // All pieces go through lanes, the last group with idle ones.
  static std::vector<Sha256> hash(std::span<const std::byte> bytes, std::size_t piece_size, std::size_t count) {
    std::vector<Sha256> hashes(count);
    std::vector<const std::byte*> pieces;
    for (std::size_t i = 0; i < count; ++i) pieces.push_back(bytes.data() + i * piece_size);
    EXPECT_EQ(sha256_in_lanes({GetParam(), 1}, pieces, piece_size, hashes), count);
    return hashes;
  }

  static void expect_as_stream(std::span<const std::byte> bytes, std::size_t piece_size, std::size_t count) {
    const auto hashes = hash(bytes, piece_size, count);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(hashes[i].hex(), sha256(bytes.subspan(i * piece_size, piece_size)).hex())
          << "piece " << i << " of " << count << " of " << piece_size << " bytes";
    }
  }
};

// FIPS 180-2, appendix B, and the empty message.
TEST_P(Sha256Lanes, PublishedVectors) {
  const std::pair<std::string, const char*> table[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {std::string(1'000'000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}};
  for (const auto& [message, expected] : table) {
    std::string repeated;
    for (std::size_t i = 0; i < GetParam(); ++i) repeated += message;
    for (const Sha256& each : hash(bytes_of(repeated), message.size(), GetParam())) {
      EXPECT_EQ(each.hex(), expected) << message.size() << " bytes";
    }
  }
}

// Every way in which the padding falls, every lane with a content of its own, at odd addresses.
TEST_P(Sha256Lanes, EveryLengthToThreeBlocks) {
  std::mt19937_64 random(1);
  const auto bytes = random_bytes(random, 200 * GetParam() + 1);
  for (std::size_t size = 0; size <= 200; ++size) {
    expect_as_stream(std::span(bytes).subspan(1, size * GetParam()), size, GetParam());
  }
}

TEST_P(Sha256Lanes, RandomSizesAndCounts) {
  const char* const given = std::getenv("SABATH_SEED");
  const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  SCOPED_TRACE("SABATH_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto bytes = random_bytes(random, 70 * 5000 + 64);
  for (int round = 0; round < 300; ++round) {
    const std::size_t size = random() % 5000, count = random() % 71;
    expect_as_stream(std::span(bytes).subspan(random() % 64, size * count), size, count);
  }
}

TEST_P(Sha256Lanes, LeavesOfAChunk) {
  std::mt19937_64 random(2);
  const auto bytes = random_bytes(random, chunk_size_bytes);
  expect_as_stream(bytes, leaf_size_bytes, leaves_per_chunk);
}

INSTANTIATE_TEST_SUITE_P(Widths, Sha256Lanes, testing::Values(2, 8, 16, 32), testing::PrintToStringParamName());

// As shipped: whole pieces, and a last one that may be short.
void expect_pieces(std::span<const std::byte> bytes, std::size_t piece_size) {
  std::vector<Sha256> hashes((bytes.size() + piece_size - 1) / piece_size);
  sha256_pieces(bytes, piece_size, hashes);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const auto piece = bytes.subspan(i * piece_size, std::min(piece_size, bytes.size() - i * piece_size));
    ASSERT_EQ(hashes[i].hex(), sha256(piece).hex())
        << "piece " << i << " of " << piece_size << " in " << bytes.size() << " bytes";
  }
}

TEST(Sha256Pieces, AnyCountAndAShortLastPiece) {
  std::mt19937_64 random(3);
  const auto bytes = random_bytes(random, 66 * leaf_size_bytes);
  const std::span all(bytes);
  for (std::size_t size = 1; size <= 200; ++size) {
    for (const std::size_t count : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 49, 65}) {
      expect_pieces(all.subspan(3, size * count), size);
      expect_pieces(all.subspan(3, size * count + random() % size), size);
    }
  }
  for (const std::size_t count : {1, 2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 40, 49, 65}) {
    expect_pieces(all.first(count * leaf_size_bytes), leaf_size_bytes);
    expect_pieces(all.subspan(1, count * leaf_size_bytes + 4321), leaf_size_bytes);
  }
}

TEST(Sha256Each, MessagesOfAnyLengths) {
  std::mt19937_64 random(4);
  const auto bytes = random_bytes(random, 70'000);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::span<const std::byte>> messages;
    while (messages.size() < 100) {
      const std::size_t size = random() % 600, equal = 1 + random() % 90;
      for (std::size_t i = 0; i < equal; ++i) messages.push_back(std::span(bytes).subspan(random() % 69'000, size));
    }
    std::vector<Sha256> hashes(messages.size());
    sha256_each(messages, hashes);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      ASSERT_EQ(hashes[i].hex(), sha256(messages[i]).hex()) << messages[i].size() << " bytes, " << i;
    }
  }
}

}  // namespace
}  // namespace sabath
