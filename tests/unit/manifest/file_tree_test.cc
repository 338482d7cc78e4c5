#include "manifest/file_tree.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <numeric>
#include <utility>

#include "base/hash.h"
#include "manifest/file_node.h"
#include "plain_tree.h"

namespace sabath {
namespace {

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i % 251);
  return bytes;
}

FileTree tree_of(std::span<const std::byte> bytes) {
  FileHasher hasher;
  hasher.update(bytes);
  return hasher.finish();
}

TEST(FileTree, AFileOfOneLeafHasThePlainHash) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{leaf_size_bytes}}) {
    const auto bytes = pattern(size);
    EXPECT_EQ(tree_of(bytes).digest, (Digest{ContentKind::file, size, sha256(bytes)}));
    EXPECT_EQ(tree_of(bytes).chunks.size(), size == 0 ? 0 : 1);
  }
  EXPECT_NE(tree_of(pattern(leaf_size_bytes + 1)).digest.hash, sha256(pattern(leaf_size_bytes + 1)));
}

TEST(FileTree, TheDigestIsThatOfItsOnlyChunk) {
  for (const std::size_t size : {leaf_size_bytes + 1, chunk_size_bytes - 1, chunk_size_bytes}) {
    const auto bytes = pattern(size);
    EXPECT_EQ(tree_of(bytes).digest.hash, hash_chunk(bytes));
  }
}

TEST(FileTree, PiecesOfAnySizeMakeTheSameTree) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(seed);
  test::Random random(seed);
  const auto bytes = pattern(2 * chunk_size_bytes + 12'345);
  const FileTree whole = tree_of(bytes);
  ASSERT_EQ(whole.chunks.size(), 3);
  FileHasher hasher;
  for (std::span<const std::byte> rest(bytes); !rest.empty();) {
    const auto piece = rest.first(std::min<std::size_t>(rest.size(), random() % (3 * chunk_size_bytes / 2)));
    hasher.update(piece);
    rest = rest.subspan(piece.size());
  }
  const FileTree pieces = hasher.finish();
  EXPECT_EQ(pieces.digest, whole.digest);
  EXPECT_EQ(pieces.chunks, whole.chunks);
  EXPECT_EQ(digest_of_chunks(bytes.size(), whole.chunks), whole.digest);
}

TEST(FileTree, FilesSideBySideAreThoseOneByOne) {
  std::vector<std::uint64_t> sizes;
  for (const auto& [count, size] : {std::pair(40, 16384UL),
                                    {1, 0UL},
                                    {3, 100UL},
                                    {17, 65536UL},
                                    {2, 65537UL},
                                    {1, chunk_size_bytes},
                                    {2, 0UL},
                                    {1, 1UL},
                                    {9, 1UL}}) {
    sizes.insert(sizes.end(), count, size);
  }
  const auto bytes = pattern(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
  std::span<const std::byte> rest(bytes);
  std::vector<std::span<const std::byte>> contents;
  for (const std::uint64_t size : sizes) {
    contents.push_back(rest.first(size));
    rest = rest.subspan(size);
  }
  const auto digests = hash_contents(contents);
  ASSERT_EQ(digests.size(), contents.size());
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const FileTree alone = tree_of(contents[i]);
    EXPECT_EQ(digests[i], alone.digest) << i;
    EXPECT_EQ(one_chunk_tree(digests[i]).chunks, alone.chunks) << i;
  }
  EXPECT_TRUE(hash_contents({}).empty());
}

TEST(FileTree, ReadsAnOpenFileAndRefusesAShorterOne) {
  const auto bytes = pattern(chunk_size_bytes + 1);
  std::FILE* const file = std::tmpfile();
  ASSERT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
  std::fflush(file);
  EXPECT_EQ(hash_file(fileno(file), bytes.size()).digest, tree_of(bytes).digest);
  EXPECT_EQ(test::kind_thrown([&] { (void)hash_file(fileno(file), bytes.size() + 1); }), FailureKind::changed);
  std::fclose(file);
}

TEST(FileTree, WrongCountsAreRefused) {
  const std::vector<Sha256> two(2);
  EXPECT_EQ(test::kind_thrown([&] { (void)digest_of_chunks(chunk_size_bytes, two); }), FailureKind::invalid);
  EXPECT_EQ(test::kind_thrown([&] { (void)digest_of_chunks(file_size_max + 1, two); }), FailureKind::invalid);
  EXPECT_EQ(test::kind_thrown([&] { (void)hash_chunk({}); }), FailureKind::internal);
}

// Of any chunks in a row, and the short one at the end: both as each by itself.
TEST(FileTree, AChunkIsHashedWithTheChecksumsOfItsFile) {
  const auto bytes = pattern(2 * chunk_size_bytes + 3 * leaf_size_bytes + 77);
  for (const bool with_sha256 : {true, false}) {
    Checksums expected;
    StreamHash md5("md5");
    md5.update(bytes);
    expected.md5 = md5.finish_hex();
    if (with_sha256) expected.sha256 = sha256(bytes).hex();
    ChecksumSet sums(expected);
    std::vector<Sha256> chunks;
    for (std::uint64_t i = 0; i < chunk_count(bytes.size()); ++i) {
      chunks.push_back(hash_chunk(std::span(bytes).subspan(i * chunk_size_bytes, chunk_length(bytes.size(), i)), sums));
    }
    EXPECT_EQ(chunks, tree_of(bytes).chunks);
    const Checksums computed = sums.finish_and_compare("a file");
    EXPECT_EQ(computed.sha256, expected.sha256);
    EXPECT_EQ(computed.md5, expected.md5);
  }
}

// The layers that the builder makes are the ones that a reader expects, at every edge of the shape.
TEST(FileTree, NodesParseAsTheyWereMade) {
  for (const std::uint64_t chunks : {2, 63, 64, 65, 128, 4095, 4096, 4097}) {
    for (const std::uint64_t tail : {std::uint64_t{1}, chunk_size_bytes}) {
      const std::uint64_t size = (chunks - 1) * chunk_size_bytes + tail;
      const std::vector<Sha256> layer(chunks, sha256("c"));
      std::vector<std::pair<Sha256, std::string>> nodes;
      const Sha256 top = build_file_nodes(
          size, layer, [&](const Sha256& hash, std::string_view node) { nodes.emplace_back(hash, node); });
      ASSERT_EQ(nodes.back().first, top);
      const unsigned level = file_top_level(size);
      const auto children = parse_file_node(nodes.back().second, level, size);
      EXPECT_EQ(children.size(), (size + file_node_span(level - 1) - 1) / file_node_span(level - 1));
      EXPECT_EQ(sha256(nodes.back().second), top);
      EXPECT_EQ(test::kind_thrown([&] { (void)parse_file_node(nodes.back().second, level, size - 1); }),
                FailureKind::invalid);
      EXPECT_EQ(test::kind_thrown([&] { (void)parse_file_node(nodes.back().second, level + 1, size); }),
                FailureKind::invalid);
    }
  }
}

TEST(Sha256Text, ParsesWhatItPrints) {
  const Sha256 hash = sha256("abc");
  EXPECT_EQ(hash.prefixed(), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256::parse(hash.prefixed()), hash);
  EXPECT_EQ(Sha256::parse("BA7816BF8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), hash);
  for (const std::string& bad : {std::string(), std::string("sha256:"), hash.hex() + "0", hash.hex().substr(1),
                                 std::string(64, 'g'), "md5:" + hash.hex(), "sha256:sha256:" + hash.hex()}) {
    EXPECT_FALSE(Sha256::try_parse(bad)) << bad;
    EXPECT_EQ(test::kind_thrown([&] { (void)Sha256::parse(bad); }), FailureKind::invalid);
  }
}

// The values for "abc" of FIPS 180-4's examples.
TEST(StreamHash, KnowsTheLongerOnesOfSha2) {
  Checksums abc;
  abc.sha224 = "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7";
  abc.sha384 = "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7";
  abc.sha512 =
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e"
      "2a9ac94fa54ca49f";
  ChecksumSet set(abc);
  set.update(std::as_bytes(std::span(std::string_view("abc"))));
  EXPECT_EQ(set.finish_and_compare("abc"), abc);
  for (const auto& algorithm : checksum_algorithms) {
    Checksums wrong;
    wrong.*algorithm.value = std::string(algorithm.digits, '0');
    EXPECT_FALSE(wrong.empty());
    ChecksumSet against(wrong);
    against.update(std::as_bytes(std::span(std::string_view("abc"))));
    std::string message;
    EXPECT_EQ(test::kind_thrown([&] { (void)against.finish_and_compare("x"); }, &message), FailureKind::content);
    EXPECT_NE(message.find(algorithm.name), message.npos) << message;
  }
}

TEST(StreamHash, KnowsTheThreeAlgorithms) {
  ChecksumSet set({"900150983cd24fb0d6963f7d28e17f72", "a9993e364706816aba3e25717850c26c9cd0d89d",
                   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"});
  for (const char letter : {'a', 'b', 'c'}) set.update(std::as_bytes(std::span(&letter, 1)));
  EXPECT_EQ(set.finish_and_compare("abc").sha1, "a9993e364706816aba3e25717850c26c9cd0d89d");
  ChecksumSet wrong({"900150983cd24fb0d6963f7d28e17f73", "", ""});
  wrong.update(std::as_bytes(std::span(std::string_view("abc"))));
  std::string message;
  EXPECT_EQ(test::kind_thrown([&] { (void)wrong.finish_and_compare("data/x"); }, &message), FailureKind::content);
  EXPECT_EQ(message,
            "data/x: its md5 is 900150983cd24fb0d6963f7d28e17f72, published is 900150983cd24fb0d6963f7d28e17f73");
}

}  // namespace
}  // namespace sabath
