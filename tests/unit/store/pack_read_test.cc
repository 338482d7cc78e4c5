// Many small files' content at once: tests of store/pack_read.h.
#include "store/pack_read.h"

#include <algorithm>

#include "packs_fixture.h"
#include "store/state.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using Numbers = std::vector<std::size_t>;

struct PackReads : PacksFixture {
  const std::vector<Digest> digests = put_many();
  const PackMap map = map_packs(*store, digests);
  OpenPacks open;

  // Of those contents, one after the other.
  std::string read(const Numbers& numbers, bool told) {
    std::vector<Digest> wanted;
    std::vector<PackMap::Place> places;
    std::size_t bytes = 0;
    for (const std::size_t i : numbers) {
      wanted.push_back(digests[i]);
      if (told) places.push_back(map.places.at(i));
      bytes += digests[i].size_bytes;
    }
    std::string room(bytes, '?');
    EXPECT_FALSE(read_contents(*store, open, wanted, map, places, std::as_writable_bytes(std::span(room))));
    return room;
  }
  static std::string expected(const Numbers& numbers) {
    std::string all;
    for (const std::size_t i : numbers) all += content(i);
    return all;
  }
  // As they stand in the pack; every second of them is compressed.
  [[nodiscard]] Numbers in_order(std::size_t from, std::size_t step) const {
    Numbers numbers;
    for (std::size_t i = from; i < map.order.size(); i += step) numbers.push_back(map.order[i]);
    return numbers;
  }
  [[nodiscard]] Numbers stored_raw() const {
    Numbers numbers = in_order(0, 1);
    std::erase_if(numbers, [&](std::size_t i) {
      return map.places[i].codec != PackCodec::raw || map.places[i].pack == PackMap::no_pack;
    });
    return numbers;
  }
};

TEST_F(PackReads, GiveWhatWasPutInAnyOrder) {
  ASSERT_FALSE(map.empty());
  Numbers back = in_order(0, 1);
  std::ranges::reverse(back);
  for (const bool told : {true, false}) {
    for (const Numbers& numbers : {in_order(0, 1), in_order(1, 3), back, stored_raw(), Numbers{7, 7}}) {
      EXPECT_EQ(read(numbers, told), expected(numbers)) << told << ' ' << numbers.size();
    }
  }
}

// Neighbours that are not compressed are read where they are wanted, without a copy: also the parts of such a run.
TEST_F(PackReads, OfNeighboursThatStandAsTheyAre) {
  std::vector<std::unique_ptr<ObjectWriter>> group;
  std::vector<Digest> contents;
  std::string all;
  for (std::size_t i = 0; i < many; ++i) {
    const auto bytes = seeded_bytes(900 + i, 0, 1000 + i);
    group.push_back(store->write_object(many));
    group.back()->write(bytes_of(bytes));
    contents.push_back(group.back()->finish().digest);
  }
  store->publish(std::move(group), many);
  const PackMap its = map_packs(*store, contents);
  std::vector<Digest> wanted;
  std::vector<PackMap::Place> places;
  for (const std::uint32_t number : its.order) {
    ASSERT_EQ(its.places[number].codec, PackCodec::raw);
    wanted.push_back(contents[number]);
    places.push_back(its.places[number]);
    all += seeded_bytes(900 + number, 0, 1000 + number);
  }
  std::string room(all.size(), '?');
  const auto bytes = std::as_writable_bytes(std::span(room));
  EXPECT_FALSE(read_contents(*store, open, wanted, its, places, bytes));
  EXPECT_EQ(room, all);

  // Files that the pack has lost are not read from old memory, and files that it still has are right.
  const fs::path pack = store->state().layout.pack(its.packs.at(places.front().pack));
  fs::permissions(pack, fs::perms::owner_write, fs::perm_options::add);
  const std::size_t kept = places[many / 2].offset;
  fs::resize_file(pack, kept);
  std::ranges::fill(room, '?');
  EXPECT_FALSE(read_contents(*store, open, wanted, its, places, bytes));
  const std::size_t right = kept - places.front().offset;
  EXPECT_EQ(room.substr(0, right), all.substr(0, right));
  EXPECT_EQ(room.substr(right), std::string(room.size() - right, '\0'));
}

}  // namespace
}  // namespace sabath::test
