// Every width of side-by-side SHA-256 that this CPU has, against published vectors and OpenSSL's.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/sha256/sha256_choice.h"
#include "base/sha256/sha256_lanes.h"

namespace sabath {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::vector<std::byte> random_bytes(std::mt19937_64& random, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(Sha256Cpu, WhatIsHiddenFromOpenSslIsHidden) {
  const std::pair<const char*, std::uint64_t> table[] = {
      {nullptr, ~0ULL},
      {"", ~0ULL},
      {"OPENSSL_armcap=0x7d", ~0ULL},
      {"OPENSSL_ia32cap=0x7ffaf3ff", ~0ULL},
      {"OPENSSL_ia32cap=0x7ffaf3ffffebffff:0x40069c219c97a9", 0x40069c219c97a9},
      {"OPENSSL_ia32cap=0x7ffaf3ffffebffff:0x1c97a9 env::~0x20000000", 0x1c97a9}};
  for (const auto& [words, features] : table) {
    EXPECT_EQ(sha256_features_shown(words), features) << (words == nullptr ? "not set" : words);
  }
}

class Sha256Lanes : public testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    const auto kernels = sha256_kernels(sha256_cpu());
    const auto found = std::ranges::find(kernels, GetParam(), &Sha256Kernel::name);
    if (found == kernels.end()) GTEST_SKIP() << "this CPU cannot run " << GetParam();
    kernel_ = *found;
  }

  // All pieces go through lanes, the last group with idle ones.
  [[nodiscard]] std::vector<Sha256> hash(std::span<const std::byte> bytes, std::size_t piece_size,
                                         std::size_t count) const {
    std::vector<Sha256> hashes(count);
    std::vector<const std::byte*> pieces;
    for (std::size_t i = 0; i < count; ++i) pieces.push_back(bytes.data() + i * piece_size);
    EXPECT_EQ(Sha256Choice(kernel_, {}).hash(pieces, piece_size, hashes), count);
    return hashes;
  }

  void expect_as_stream(std::span<const std::byte> bytes, std::size_t piece_size, std::size_t count) const {
    const auto hashes = hash(bytes, piece_size, count);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(hashes[i].hex(), sha256(bytes.subspan(i * piece_size, piece_size)).hex())
          << "piece " << i << " of " << count << " of " << piece_size << " bytes";
    }
  }

  Sha256Kernel kernel_;
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
    for (std::size_t i = 0; i < kernel_.lanes; ++i) repeated += message;
    for (const Sha256& each : hash(bytes_of(repeated), message.size(), kernel_.lanes)) {
      EXPECT_EQ(each.hex(), expected) << message.size() << " bytes";
    }
  }
}

// Every way in which the padding falls, every lane with a content of its own, at odd addresses.
TEST_P(Sha256Lanes, EveryLengthToThreeBlocks) {
  std::mt19937_64 random(1);
  const auto bytes = random_bytes(random, 200 * kernel_.lanes + 1);
  for (std::size_t size = 0; size <= 200; ++size) {
    expect_as_stream(std::span(bytes).subspan(1, size * kernel_.lanes), size, kernel_.lanes);
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

std::string word(std::string_view name) {
  std::string text(name);
  std::erase_if(text, [](char c) { return c == '-' || c == '+'; });
  return text;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Sha256Lanes, testing::Values("sha-ni", "avx2", "avx512", "avx512x2"),
                         [](const auto& info) { return word(info.param); });

// As chosen: whole pieces, and a last one that may be short.
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

// The stream goes to and fro between OpenSSL's code and ours, from any position.
TEST(StreamSha256, TakesPiecesAlong) {
  std::mt19937_64 random(5);
  const auto bytes = random_bytes(random, 70 * leaf_size_bytes);
  for (int round = 0; round < 200; ++round) {
    StreamSha256 stream;
    std::vector<std::byte> all;
    for (int part = 0; part < 4; ++part) {
      const std::size_t piece_size = random() % 2 == 0 ? 64 * (1 + random() % 40) : 1 + random() % 3000;
      const std::size_t before = random() % 3 == 0 ? random() % 200 : 0, length = random() % (70 * piece_size);
      const std::span plain(bytes.data() + random() % 64, before), pieces(bytes.data() + random() % 64, length);
      stream.update(plain);
      std::vector<Sha256> hashes((length + piece_size - 1) / piece_size), expected(hashes.size());
      stream.update(pieces, piece_size, hashes);
      sha256_pieces(pieces, piece_size, expected);
      ASSERT_EQ(hashes, expected) << length << " bytes in pieces of " << piece_size << ", round " << round;
      all.insert(all.end(), plain.begin(), plain.end());
      all.insert(all.end(), pieces.begin(), pieces.end());
    }
    ASSERT_EQ(stream.finish().hex(), sha256(all).hex()) << all.size() << " bytes, round " << round;
  }
}

// The length is told in bits, of which there are more than 32 bits hold.
TEST(StreamSha256, CountsBeyondTheFirstHalfGigabyte) {
  const std::vector<std::byte> bytes(chunk_size_bytes, std::byte{0x5a});
  StreamSha256 along;
  StreamHash alone("sha256");
  std::vector<Sha256> leaves(leaves_per_chunk);
  for (std::uint64_t done = 0; done < (513ULL << 20); done += bytes.size()) {
    along.update(bytes, leaf_size_bytes, leaves);
    alone.update(bytes);
  }
  EXPECT_EQ(along.finish().hex(), alone.finish_hex());
}

// The SHA-256 of whole blocks after which a stream's state is `words`.
Sha256 finished(std::array<std::uint32_t, 8> words, std::size_t size_bytes) {
  std::array<std::byte, 64> end{std::byte{0x80}};
  const std::uint64_t bits = __builtin_bswap64(size_bytes * 8);
  std::memcpy(end.data() + 56, &bits, sizeof bits);
  std::array<Sha256, 1> unused;
  const Sha256Choice one({}, {"", 1, sha256_1_along});
  EXPECT_EQ(one.hash_along(words.data(), end, end.size(), unused), 1U);
  for (std::uint32_t& word : words) word = __builtin_bswap32(word);
  return Sha256(std::bit_cast<std::array<std::uint8_t, Sha256::size>>(words));
}

// Every number of pieces that this CPU can take along, not only the chosen one.
TEST(Sha256Along, PiecesAndTheirStream) {
  const auto alongs = sha256_alongs(sha256_cpu());
  if (alongs.empty()) GTEST_SKIP() << "this CPU has no SHA extensions";
  std::mt19937_64 random(6);
  const auto bytes = random_bytes(random, 40 * leaf_size_bytes + 7);
  for (const Sha256Along& along : alongs) {
    const Sha256Choice choice({}, along);
    for (const std::size_t piece_size : {std::size_t{64}, std::size_t{128}, std::size_t{4096}, leaf_size_bytes}) {
      for (const std::size_t count : {0, 1, 15, 16, 17, 31, 32, 40}) {
        std::array<std::uint32_t, 8> words{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
        const auto pieces = std::span(bytes).subspan(7, count * piece_size);
        std::vector<Sha256> hashes(count);
        const std::size_t done = choice.hash_along(words.data(), pieces, piece_size, hashes);
        ASSERT_EQ(done, count / along.pieces * along.pieces);
        ASSERT_EQ(finished(words, done * piece_size).hex(), sha256(pieces.first(done * piece_size)).hex());
        for (std::size_t i = 0; i < done; ++i) {
          ASSERT_EQ(hashes[i].hex(), sha256(pieces.subspan(i * piece_size, piece_size)).hex()) << i << " of " << count;
        }
      }
    }
    std::vector<Sha256> hashes(16);
    std::array<std::uint32_t, 8> words{};
    EXPECT_EQ(choice.hash_along(words.data(), std::span(bytes).first(16 * 65), 65, hashes), 0U) << "no whole blocks";
    EXPECT_EQ(Sha256Choice().hash_along(words.data(), std::span(bytes).first(16 * 64), 64, hashes), 0U);
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
