// Tiles and picks, tried together on random selections: each wanted element arrives once, in its place.
#include "hdf5/tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "hdf5/pick.h"

namespace sabath {
namespace {

using Extents = std::vector<std::uint64_t>;

std::vector<Box> all_tiles(const TilePlan& plan) {
  Tiles tiles(plan);
  std::vector<Box> result;
  while (const auto tile = tiles.next()) result.push_back(*tile);
  return result;
}

std::uint64_t bytes_of(const TilePlan& plan) {
  std::uint64_t bytes = 0;
  for (const Box& tile : all_tiles(plan)) bytes += tile.count() * plan.element_bytes;
  return bytes;
}

TilePlan universe_plan(std::vector<AxisRange> ranges) {
  return {{512, 512, 512, 4}, {1, 1, 1, 1}, true, 2, std::move(ranges)};
}

constexpr AxisRange all512{0, 512, 1};

TEST(Tiles, SmallGapsAreReadThrough) {
  const TilePlan plan = universe_plan({all512, all512, all512, {0, 1, 1, true}});
  EXPECT_EQ(bytes_of(plan), 1U << 30);  // each byte once
  const std::vector<Box> tiles = all_tiles(plan);
  EXPECT_EQ(tiles.size(), 16U);
  EXPECT_EQ(tiles[1], (Box{{32, 0, 0, 0}, {32, 512, 512, 4}}));
}

TEST(Tiles, LargeGapsAreSkipped) {
  EXPECT_EQ(bytes_of(universe_plan({{0, 6, 100}, all512, all512, {0, 4, 1}})), 6U * (2 << 20));
  EXPECT_EQ(bytes_of(universe_plan({{3, 128, 1}, {0, 128, 1}, {7, 128, 1}, {0, 4, 1}})), 128U * 128 * 512 * 8);
  EXPECT_EQ(bytes_of(universe_plan({{511, 1, 1, true}, {511, 1, 1, true}, {511, 1, 1, true}, {3, 1, 1, true}})), 4096U);
}

TEST(Tiles, AreWholeChunks) {
  TilePlan plan{{100, 100}, {30, 40}, false, 4, {{35, 10, 5}, {50, 30, 1}}};
  EXPECT_EQ(all_tiles(plan), (std::vector<Box>{{{30, 40}, {51, 40}}}));
  plan.tile_bytes = 1;  // never less than a chunk, and none twice
  EXPECT_EQ(all_tiles(plan), (std::vector<Box>{{{30, 40}, {30, 40}}, {{60, 40}, {21, 40}}}));
}

TEST(Tiles, ScalarIsOne) { EXPECT_EQ(all_tiles(TilePlan{{}, {}, true, 8, {}}), (std::vector<Box>{{{}, {}}})); }

struct Random {
  std::mt19937_64 engine;
  std::uint64_t operator()(std::uint64_t below) { return engine() % below; }
};

TilePlan random_plan(Random& random) {
  TilePlan plan;
  plan.element_bytes = Extents{1, 2, 3, 4, 8, 16}[random(6)];
  plan.rows = random(2) == 0;
  plan.tile_bytes = 1 + random(4000);
  plan.gap_bytes = random(200);
  for (std::uint64_t axis = random(5); axis-- > 0;) {
    const std::uint64_t extent = 1 + random(13), begin = random(extent), step = 1 + random(5);
    plan.extents.push_back(extent);
    plan.unit.push_back(plan.rows ? 1 : 1 + random(6));
    plan.ranges.push_back({begin, 1 + random((extent - begin - 1) / step + 1), step});
  }
  return plan;
}

std::uint64_t offset_of(const Extents& extents, const Extents& at) {
  std::uint64_t offset = 0;
  for (std::size_t a = 0; a < extents.size(); ++a) offset = offset * extents[a] + at[a];
  return offset;
}

template <typename Visit>
void for_each_place(const Extents& extents, Visit visit) {
  Extents at(extents.size(), 0);
  for (std::uint64_t n = Box{at, extents}.count(); n > 0; --n) {
    visit(at);
    for (std::size_t a = at.size(); a-- > 0 && ++at[a] == extents[a];) at[a] = 0;
  }
}

// The bytes of a dataset whose element i is a pattern of i.
std::vector<std::byte> pattern(std::uint64_t element, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((element >> (i % 4 * 4)) + 31 * i);
  return bytes;
}

void try_plan(const TilePlan& plan) {
  Tiles tiles(plan);
  Extents counts;
  for (const AxisRange& range : plan.ranges) counts.push_back(range.count);
  std::vector<int> arrived(Box{{}, counts}.count(), 0);
  while (const auto tile = tiles.next()) {
    ASSERT_LE(tile->count() * plan.element_bytes, std::max(plan.tile_bytes, tiles.tile_bytes()));
    std::vector<std::byte> memory;
    for_each_place(tile->extent, [&](Extents at) {
      for (std::size_t a = 0; a < at.size(); ++a) {
        at[a] += tile->begin[a];
        ASSERT_LT(at[a], plan.extents[a]);
      }
      const auto bytes = pattern(offset_of(plan.extents, at), plan.element_bytes);
      memory.insert(memory.end(), bytes.begin(), bytes.end());
    });
    const Box part = tiles.selected(*tile);
    if (part.count() == 0) continue;
    Extents begin, step;
    for (std::size_t a = 0; a < counts.size(); ++a) {
      begin.push_back(plan.ranges[a].begin + part.begin[a] * plan.ranges[a].step - tile->begin[a]);
      step.push_back(plan.ranges[a].step);
    }
    std::vector<std::byte> picked(part.count() * plan.element_bytes);
    const Pick how = make_pick(tile->extent, begin, step, part.extent, plan.element_bytes);
    ASSERT_EQ(pick(how, memory.data(), picked.data()), picked.data() + picked.size());
    std::size_t next = 0;
    for_each_place(part.extent, [&](Extents at) {
      Extents source;
      for (std::size_t a = 0; a < at.size(); ++a) {
        at[a] += part.begin[a];
        source.push_back(plan.ranges[a].begin + at[a] * plan.ranges[a].step);
      }
      ++arrived[offset_of(counts, at)];
      const auto expected = pattern(offset_of(plan.extents, source), plan.element_bytes);
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), picked.begin() + static_cast<std::ptrdiff_t>(next)));
      next += plan.element_bytes;
    });
  }
  ASSERT_TRUE(std::ranges::all_of(arrived, [](int times) { return times == 1; }));
}

TEST(Tiles, EachElementArrivesOnce) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Random random{std::mt19937_64(seed)};
    try_plan(random_plan(random));
    if (HasFatalFailure()) return;
  }
}

TEST(Pick, FoldsAxes) {
  const auto of = [](Extents extents, Extents begin, Extents step, Extents count) {
    return make_pick(extents, begin, step, count, 2);
  };
  const Pick cube = of({8, 512, 512, 4}, {0, 0, 0, 1}, {1, 1, 1, 1}, {8, 512, 512, 1});
  ASSERT_EQ(cube.axes.size(), 1U);  // one loop over everything
  EXPECT_EQ(cube.axes[0].count, 8U * 512 * 512);
  EXPECT_EQ((Extents{cube.axes[0].stride, cube.run_bytes, cube.offset_bytes}), (Extents{8, 2, 2}));
  EXPECT_TRUE(of({8, 5}, {2, 0}, {1, 1}, {3, 5}).contiguous());
  EXPECT_EQ(of({8, 5}, {2, 0}, {1, 1}, {3, 5}).offset_bytes, 20U);
  EXPECT_EQ(of({8, 5}, {0, 1}, {2, 1}, {3, 4}).run_bytes, 8U);
}

}  // namespace
}  // namespace sabath
