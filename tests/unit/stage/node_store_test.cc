// A node's store while another job fills it, too.
#include "stage/node/node_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/file.h"
#include "store/partials/partial.h"
#include "support/seeded.h"
#include "support/temp_dir.h"

namespace sabath::test {
namespace {

struct NodeStoreTest : testing::Test {
  static constexpr std::uint64_t size = 2 * chunk_size_bytes + 5;

  NodeStoreTest() : content(seeded_bytes(1, 0, size)) {
    write_file(dir / "file", content);
    const Fd fd = open_file(dir / "file", O_RDONLY);
    tree = hash_file(fd.get(), size, dir / "file");
    ManifestBuilder builder;
    builder.add_file(RelativePath::parse("file"), tree.digest, tree.chunks);
    manifest.emplace(Manifest::parse(builder.bytes()));
    tape = Tape(files_of(*manifest));
  }
  [[nodiscard]] std::span<const std::byte> chunk(std::size_t index) const {
    return std::as_bytes(std::span(content)).subspan(index * chunk_size_bytes, chunk_length(size, index));
  }

  const std::string content;
  TempDir dir;
  FileTree tree;
  std::optional<Manifest> manifest;
  Tape tape;
};

// Chunks that another job brought after the look at the holdings come a second time, each in its own place.
TEST_F(NodeStoreTest, AFileIsPublishedWhenAllItsChunksAreHereAndNotBefore) {
  for (const std::size_t brought : {1U, 2U, 3U}) {
    const auto node = dir / ("node" + std::to_string(brought));
    LocalDisks disks({node}, "test");
    ChunkLists chunks(*manifest, tape);
    NodeStore store(disks, tape, chunks, 1);
    ASSERT_FALSE(store.holdings().has(0));
    static_cast<void>(store.deal([](std::size_t) { return true; }));
    const auto other = Store::open(node / ".sabath", false);
    const auto theirs = other->open_partial(tree.digest, tree.chunks);
    for (std::size_t i = 0; i < brought; ++i) theirs->write_chunk(0, i, chunk(i), tree.chunks[i]);
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_NO_THROW(store.write(i, chunk(i), true, 0)) << "chunk " << i << ", of which the other has " << brought;
    }
    store.finish();
    std::ifstream object(disks.main().object_path(tree.digest), std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(object), {}), content);
  }
}

}  // namespace
}  // namespace sabath::test
