// Published hashes of pieces against chunks: what lies within a chunk is judged by it, and nothing else is.

#include "fetch/transfer/pieces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/hash.h"
#include "sabath/digest.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

PieceHashes pieces_of(std::string_view bytes, const char* algorithm, std::uint64_t length) {
  PieceHashes pieces{algorithm, length, {}};
  for (std::size_t at = 0; at < bytes.size(); at += length) {
    StreamHash hash(algorithm);
    hash.update(std::as_bytes(std::span(bytes.substr(at, length))));
    pieces.hex += hash.finish_hex();
  }
  return pieces;
}

TEST(Pieces, EachByteIsJudgedByTheChunkThatHoldsItsPiece) {
  const std::uint64_t size = 2 * chunk_size_bytes + 100'000;
  const std::string right = seeded_bytes(1, 0, size);
  for (const char* algorithm : {"sha512", "sha384", "sha256", "sha224", "sha1", "md5"}) {
    for (const std::uint64_t length :
         {100'000UL, 1UL << 20, 3UL << 20, chunk_size_bytes, 2 * chunk_size_bytes, 2 * size}) {
      const PieceHashes pieces = pieces_of(right, algorithm, length);
      for (std::uint64_t begin = 0; begin < size; begin += chunk_size_bytes) {
        const std::uint64_t end = std::min(begin + chunk_size_bytes, size);
        std::string chunk = right.substr(begin, end - begin);
        const auto judged = [&] { return pieces_match(pieces, size, begin, std::as_bytes(std::span(chunk))); };
        EXPECT_TRUE(judged()) << algorithm << ' ' << length << ' ' << begin;
        for (const std::uint64_t at : {begin, begin + (end - begin) / 2, end - 1}) {
          chunk[at - begin] ^= 1;
          const std::uint64_t piece = at / length * length;
          const bool within = piece >= begin && std::min(piece + length, size) <= end;
          EXPECT_EQ(judged(), !within) << algorithm << ' ' << length << ' ' << at;
          chunk[at - begin] ^= 1;
        }
      }
    }
  }
}

TEST(Pieces, NothingPublishedSaysNothing) {
  const std::string bytes = "bytes";
  EXPECT_TRUE(pieces_match({}, 5, 0, std::as_bytes(std::span(bytes))));
  EXPECT_TRUE(pieces_match({"sha256", 0, {}}, 5, 0, std::as_bytes(std::span(bytes))));
  EXPECT_TRUE(pieces_match({"sha256", 1UL << 63, std::string(64, '0')}, 5, 0, {}));
}

}  // namespace
}  // namespace sabath::test
