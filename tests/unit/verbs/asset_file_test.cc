// Files of an asset, read where they stand: as objects, and in packs, raw and compressed.
#include "sabath/asset_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "sabath/error.h"
#include "site.h"

namespace sabath::test {
namespace {

std::string noise(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

std::string all_of(const AssetFile& file) {
  std::string bytes(file.size_bytes(), '\0');
  EXPECT_EQ(file.read(0, std::as_writable_bytes(std::span(bytes))), bytes.size());
  return bytes;
}

// As a program that maps it would see it.
std::string placed(const FilePlace& place) {
  std::ifstream in(place.file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(place.offset));
  std::string bytes(place.size_bytes, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  EXPECT_EQ(static_cast<std::uint64_t>(in.gcount()), place.size_bytes);
  return bytes;
}

std::vector<std::string> paths_of(const OpenAsset& asset) {
  std::vector<std::string> paths;
  for (const PlacedFile& file : asset.files()) paths.push_back(file.path);
  return paths;
}

FailureKind kind_of_opening(Session& session, const std::string& asset, const std::string& path) {
  try {
    const AssetFile file(session, asset, path);
  } catch (const Error& error) {
    return error.failure().kind;
  }
  return FailureKind::internal;
}

TEST(AssetFiles, OfAFewAreObjects) {
  Site site;
  const std::string first = noise(70'000, 1);
  site.dataset("pair", {file_fragment("one", "d/one.bin", {site.serve("1", first)}),
                        file_fragment("two", "none.bin", {site.serve("2", "")})});
  Session session = site.open();
  EXPECT_EQ(kind_of_opening(session, "pair", "d/one.bin"), FailureKind::offline);
  ASSERT_EQ(site.fetch("pair").exit, 0);
  const AssetFile file(session, "pair", "d/one.bin");
  EXPECT_EQ(all_of(file), first);
  std::string room(100, '\0');
  EXPECT_EQ(file.read(69'950, std::as_writable_bytes(std::span(room))), 50U);
  EXPECT_EQ(room.substr(0, 50), first.substr(69'950));
  EXPECT_EQ(file.read(70'000, std::as_writable_bytes(std::span(room))), 0U);
  EXPECT_EQ(file.read(UINT64_MAX, std::as_writable_bytes(std::span(room))), 0U);
  ASSERT_TRUE(file.place());
  EXPECT_EQ(placed(*file.place()), first);
  EXPECT_EQ(AssetFile(session, "pair", "none.bin").size_bytes(), 0U);
  const OpenAsset pair(session, "pair"), same(session, pair.manifest());
  EXPECT_EQ(paths_of(pair), (std::vector<std::string>{"d/one.bin", "none.bin"}));
  EXPECT_EQ(paths_of(same), paths_of(pair)) << "by its root";
  EXPECT_EQ(all_of(AssetFile(same, "d/one.bin")), first);
  EXPECT_EQ(kind_of_opening(session, "sha256:" + std::string(64, '0'), "one.bin"), FailureKind::offline);
  EXPECT_EQ(kind_of_opening(session, "pair", "three.bin"), FailureKind::not_found);
  EXPECT_EQ(kind_of_opening(session, "pair", "d"), FailureKind::usage);
  EXPECT_EQ(kind_of_opening(session, "nobody", "three.bin"), FailureKind::not_found);
  EXPECT_EQ(kind_of_opening(session, "pair", "../one.bin"), FailureKind::invalid);
}

TEST(AssetFiles, OfManyStandInPacks) {
  constexpr unsigned count = 1010;
  Site site;
  std::vector<Site::Json> fragments;
  const auto content = [](unsigned i) { return i % 2 == 0 ? noise(500 + i, i) : std::string(3000 + i, 'a'); };
  for (unsigned i = 0; i < count; ++i) {
    const std::string name = fmt::format("{}.bin", i);
    fragments.push_back(file_fragment(name, name, {site.serve(name, content(i))}));
  }
  site.dataset("many", fragments);
  ASSERT_EQ(site.fetch("many").exit, 0);
  Session session = site.open();
  const OpenAsset many(session, "many");
  EXPECT_EQ(many.files().size(), count);
  for (const PlacedFile& file : many.files()) {
    const unsigned i = static_cast<unsigned>(std::stoul(file.path));
    EXPECT_EQ(file.digest.size_bytes, content(i).size());
    ASSERT_EQ(file.place.has_value(), i % 2 == 0) << file.path;
    EXPECT_TRUE(!file.place || placed(*file.place) == content(i)) << file.path;
  }
  for (const unsigned i : {0U, 1U, 500U, 1001U}) {
    const AssetFile file(session, "many", fmt::format("{}.bin", i));
    EXPECT_EQ(all_of(file), content(i));
    EXPECT_EQ(file.place().has_value(), i % 2 == 0) << "what is compressed cannot be mapped";
    if (file.place()) {
      EXPECT_NE(file.place()->file.native().find("/packs/"), std::string::npos);
      EXPECT_EQ(placed(*file.place()), content(i));
    }
  }
}

}  // namespace
}  // namespace sabath::test
