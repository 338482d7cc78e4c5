#include "manifest/node_file.h"

#include <gtest/gtest.h>

#include "plain_tree.h"

namespace sabath {
namespace {

TEST(NodeFile, FindsEveryNodeOfTablesOfAnySize) {
  for (const int count : {0, 1, 2, 63, 64, 65, 1000, 20'000}) {
    std::string bytes;
    NodeFileWriter writer([&](std::string_view more) { bytes += more; });
    for (int i = 0; i < count; ++i) writer.put(std::to_string(i));
    writer.finish({}, {});
    const NodeFile pack = NodeFile::parse(std::move(bytes));
    pack.check_table();
    ASSERT_EQ(pack.node_count(), static_cast<std::uint64_t>(count));
    for (int i = 0; i < count; ++i) ASSERT_EQ(pack.read(sha256(std::to_string(i))), std::to_string(i));
    EXPECT_EQ(test::kind_thrown([&] { (void)pack.find(sha256("absent")); }), FailureKind::invalid);
    EXPECT_EQ(test::kind_thrown([&] { (void)pack.find(Sha256()); }), FailureKind::invalid);
  }
}

// Hashes chosen to mislead interpolation: all equal in their first eight bytes.
TEST(NodeFile, FindsNodesAmongCrowdedHashes) {
  std::string bytes;
  NodeFileWriter writer([&](std::string_view more) { bytes += more; });
  std::vector<Sha256> hashes;
  for (int i = 0; i < 5000; ++i) {
    std::array<std::uint8_t, Sha256::size> raw{};
    raw[0] = 7;
    raw[30] = static_cast<std::uint8_t>(i >> 8);
    raw[31] = static_cast<std::uint8_t>(i);
    hashes.emplace_back(raw);
    writer.put(hashes.back(), "x");
  }
  writer.finish({}, {});
  const NodeFile pack = NodeFile::parse(std::move(bytes));
  for (std::size_t i = 0; i < hashes.size(); ++i) ASSERT_EQ(pack.find(hashes[i]).index, i);
  EXPECT_EQ(test::kind_thrown([&] { (void)pack.read(hashes[0]); }), FailureKind::invalid) << "its bytes are others";
}

TEST(NodeFile, AnAbsentFileIsAStorageFailure) {
  EXPECT_EQ(test::kind_thrown([] { (void)NodeFile::open("/nonexistent/manifest"); }), FailureKind::storage);
}

}  // namespace
}  // namespace sabath
