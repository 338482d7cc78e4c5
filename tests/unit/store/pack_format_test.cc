#include "store/packs/pack_format.h"
#include "base/hash.h"
#include "store_fixture.h"

namespace sabath::test {
namespace {

std::vector<PackMember> two_members() {
  const std::string a = "first", b = "second";
  return {{tree_of(a).digest, 8, 5, PackCodec::raw, xxh3_64(a)},
          {tree_of(b).digest, 13, 6, PackCodec::raw, xxh3_64(b)}};
}

TEST(PackFormat, RefusesWhatNoWriterWrites) {
  const auto refused = [](std::vector<PackMember> members, std::uint64_t index_offset) {
    const auto index = encode_pack_index(members, index_offset);
    return kind_of([&] { static_cast<void>(parse_pack_index(index, index_offset + index.size())); });
  };
  auto right = two_members();
  const auto index = encode_pack_index(right, 19);
  EXPECT_EQ(parse_pack_index(index, 19 + index.size()), right);
  EXPECT_EQ(refused(two_members(), 20), FailureKind::invalid) << "a gap at the end";
  EXPECT_EQ(refused(two_members(), 18), FailureKind::invalid) << "members reach into the index";
  auto overlap = two_members();
  overlap[1].offset = 12;
  EXPECT_EQ(refused(overlap, 18), FailureKind::invalid);
  auto same = two_members();
  same[1] = same[0];
  EXPECT_EQ(refused(same, 13), FailureKind::invalid) << "twice";
  auto large = two_members();
  large[0].digest.size_bytes = pack_member_max + 1;
  EXPECT_EQ(refused(large, 19), FailureKind::invalid);
  auto grows = two_members();
  grows[0].stored_bytes = 6;
  EXPECT_EQ(refused(grows, 20), FailureKind::invalid) << "raw, and of another length";
  auto codec = two_members();
  codec[0].codec = static_cast<PackCodec>(2);
  EXPECT_EQ(refused(codec, 19), FailureKind::invalid);
  auto far = two_members();
  far[1].offset = UINT64_MAX - 2;
  EXPECT_EQ(refused(far, 19), FailureKind::invalid);
  for (std::size_t cut = 0; cut < index.size(); cut += 7) {
    EXPECT_THROW(static_cast<void>(parse_pack_index(std::string_view(index).substr(cut ? cut : 1), 19 + index.size())),
                 Error);
  }
}

TEST(PackFormat, BoundsWhatIsUnpacked) {
  auto member = two_members()[0];
  member.codec = PackCodec::zstd;
  member.digest.size_bytes = 100;
  std::string stored = "no zstd frame at all";
  member.stored_bytes = static_cast<std::uint32_t>(stored.size());
  std::vector<std::byte> room(100);
  EXPECT_FALSE(try_unpack(member, bytes_of(stored), room));
  EXPECT_FALSE(try_unpack(member, bytes_of(stored).first(3), room)) << "not all of it";
  EXPECT_FALSE(try_unpack(member, bytes_of(stored), std::span(room).first(99)));
  member.codec = PackCodec::raw;
  EXPECT_FALSE(try_unpack(member, bytes_of(stored), room)) << "another length";
}

}  // namespace
}  // namespace sabath::test
