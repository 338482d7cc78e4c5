// The places of the store's chunks: by its manifests, bounded, and never believed.
#include <fcntl.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "store/arrived.h"
#include "store/chunk_index.h"
#include "store_fixture.h"

namespace sabath::test {
namespace {

struct ChunkIndexes : StoreFixture {
  const std::string a = seeded_bytes(1, 0, chunk_size_bytes), b = seeded_bytes(2, 0, chunk_size_bytes), tail = "tail";

  FileTree held(const std::string& name, const std::string& bytes) {
    FileTree tree = put(bytes);
    name_it(name, tree);
    return tree;
  }
  void name_it(const std::string& name, const FileTree& tree) {
    ManifestBuilder builder;
    builder.add_file(*RelativePath::try_parse(name), tree.digest, tree.chunks);
    (void)store->put_manifest(builder);
  }
  [[nodiscard]] std::vector<std::byte> buffer() const { return std::vector<std::byte>(chunk_size_bytes); }
};

TEST_F(ChunkIndexes, FindsByHashAndLength) {
  const FileTree tree = held("x", a + b + tail);
  ChunkIndex index(*store);
  index.build("y");
  EXPECT_EQ(index.find(tree.chunks[1], chunk_size_bytes), (std::vector<ChunkPlace>{{tree.digest, 1}}));
  EXPECT_EQ(index.find(tree.chunks[2], tail.size()), (std::vector<ChunkPlace>{{tree.digest, 2}}));
  EXPECT_TRUE(index.find(tree.chunks[1], tail.size()).empty());
  EXPECT_TRUE(index.find(sha256("?"), chunk_size_bytes).empty());
  EXPECT_FALSE(index.cut());
}

TEST_F(ChunkIndexes, WhatIsNotHereIsNotFound) {
  name_it("never here", tree_of(a + b));
  const FileTree small = held("small", tail);
  ChunkIndex index(*store);
  index.build("");
  EXPECT_EQ(index.size(), 0U);
  EXPECT_TRUE(index.find(small.digest.hash, tail.size()).empty());
}

TEST_F(ChunkIndexes, TheNamesakeGoesFirstAndLimitsHold) {
  const FileTree old = held("data.bin", a + b);
  for (int i = 0; i < 5; ++i)
    held("other" + std::to_string(i), a + std::string(chunk_size_bytes, static_cast<char>(i)));
  ChunkIndex::Limits limits;
  limits.chunks = 2;  // room for one object
  ChunkIndex index(*store, limits);
  index.build("data.bin");
  EXPECT_TRUE(index.cut());
  EXPECT_EQ(index.find(old.chunks[0], chunk_size_bytes), (std::vector<ChunkPlace>{{old.digest, 0}}));
  ChunkIndex whole(*store);
  whole.build("");
  EXPECT_EQ(whole.find(old.chunks[0], chunk_size_bytes).size(), ChunkIndex::places_max);  // of six
  limits = {};
  limits.entries = 1;
  ChunkIndex few(*store, limits);
  few.build("");
  EXPECT_TRUE(few.cut());
  EXPECT_EQ(few.size(), 2U);
  limits = {};
  limits.manifests = 3;
  ChunkIndex newest(*store, limits);
  newest.build("");
  EXPECT_TRUE(newest.cut());
  EXPECT_EQ(newest.size(), 6U);
}

TEST_F(ChunkIndexes, ADamagedManifestIsAHintLost) {
  const FileTree tree = held("x", a + b);
  const auto manifests = files_below(directory / "manifests");
  ASSERT_EQ(manifests.size(), 1U);
  for (const std::uint64_t at : {0, 40, 200}) {
    tamper(directory / "manifests" / manifests[0], at);
    reopen();
    ChunkIndex index(*store);
    index.build("x");
    EXPECT_LE(index.size(), 2U);
  }
}

TEST_F(ChunkIndexes, ACopyIsHashed) {
  const FileTree holder = held("x", a + b);
  const FileTree wanted = tree_of(b + tail);
  ChunkIndex index(*store);
  index.build("");
  const auto place = index.find(wanted.chunks[0], chunk_size_bytes).at(0);
  auto bytes = buffer();
  {
    const auto partial = store->open_partial(wanted.digest, wanted.chunks);
    EXPECT_TRUE(copy_chunk(*store, place, wanted.chunks[0], *partial, 0, 0, bytes));
    EXPECT_EQ(chunks_arrived(*store, wanted.digest, wanted.chunks), (std::vector<bool>{true, false}));
    EXPECT_EQ(chunks_arrived(*store, wanted.digest, holder.chunks), (std::vector<bool>{false, false}));
  }
  EXPECT_TRUE(chunks_arrived(*store, holder.digest, holder.chunks) == (std::vector<bool>{false, false}));
  const FileTree other = tree_of(b + "another tail");
  const auto partial = store->open_partial(other.digest, other.chunks);
  tamper(store->object_path(holder.digest), chunk_size_bytes + 5);
  EXPECT_FALSE(copy_chunk(*store, place, other.chunks[0], *partial, 0, 0, bytes));
  EXPECT_EQ(partial->chunks_done(), (std::vector<bool>{false, false}));
  EXPECT_FALSE(store->present(holder.digest));  // distrusted, read, put aside
  EXPECT_FALSE(copy_chunk(*store, place, other.chunks[0], *partial, 0, 0, bytes));
}

}  // namespace
}  // namespace sabath::test
