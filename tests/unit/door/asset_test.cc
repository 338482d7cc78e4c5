// Assets and plans through the C interface.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sabath/sabath.h"
#include "stage/plan/deal.h"
#include "support/seeded.h"
#include "support/temp_dir.h"

namespace sabath::test {
namespace {

using Json = nlohmann::json;

Json value_of(char* text) {
  const Json told = text == nullptr ? Json() : Json::parse(text);
  sabath_free(text);
  return told;
}

TEST(DoorAssets, FilesAreListedAndReadAfterTheSessionIsClosed) {
  const TempDir home;
  const std::string content = seeded_bytes(1, 0, 70'000);
  std::filesystem::create_directories(home / "recipes/datasets");
  write_file(home / "one.bin", content);
  const Json fragment{
      {"id", "f"}, {"type", "file"}, {"path", "d/f"}, {"urls", {"file://" + (home / "one.bin").string()}}};
  write_file(home / "recipes/datasets/one.json",
             Json{{"schema", 1}, {"kind", "dataset"}, {"name", "one"}, {"fragments", {fragment}}}.dump());
  const Json settings{{"store", (home / "store").string()}, {"recipes", {(home / "recipes").string()}}};
  char* error = nullptr;
  sabath_session* session = sabath_open(settings.dump().c_str(), &error);
  ASSERT_NE(session, nullptr) << value_of(error);
  EXPECT_EQ(sabath_asset_open(session, "one", &error), nullptr) << "it is not fetched";
  EXPECT_EQ(value_of(error)["error"]["kind"], "offline");
  const Json fetched = value_of(sabath_call(session, "fetch", R"({"names": ["one"]})", &error));
  ASSERT_EQ(fetched["exit"], 0) << fetched;
  sabath_asset* asset = sabath_asset_open(session, "one", &error);
  ASSERT_NE(asset, nullptr) << value_of(error);
  sabath_close(session);
  const Json told = value_of(sabath_asset_files(asset, &error));
  EXPECT_EQ(told["manifest"], fetched["assets"][0]["manifest"]);
  ASSERT_EQ(told["files"].size(), 1U);
  EXPECT_EQ(told["files"][0]["path"], "d/f");
  EXPECT_EQ(told["files"][0]["size"], content.size());
  EXPECT_EQ(told["files"][0]["digest"].get<std::string>().size(), 71U) << "sha256:<hex>";
  EXPECT_EQ(told["files"][0]["place"], 0);
  EXPECT_TRUE(std::filesystem::is_regular_file(told["places"][0].get<std::string>()));
  sabath_file* file = sabath_asset_file(asset, "d/f", &error);
  ASSERT_NE(file, nullptr) << value_of(error);
  EXPECT_EQ(sabath_asset_file(asset, "d/g", &error), nullptr);
  EXPECT_EQ(value_of(error)["error"]["kind"], "not_found");
  sabath_asset_close(asset);
  std::string room(content.size() + 1, '\0');
  EXPECT_EQ(sabath_file_read(file, 0, room.data(), room.size(), &error), static_cast<std::int64_t>(content.size()));
  room.resize(content.size());
  EXPECT_EQ(room, content) << "the file outlives its asset";
  sabath_file_close(file);
}

TEST(DoorAssets, DealsAsStageDoes) {
  constexpr unsigned count = 100, shares = 7;
  std::string names;
  std::vector<StagedFile> files;
  for (unsigned i = 0; i < count; ++i) {
    files.push_back({{}, "train/" + std::to_string(i) + ".h5"});
    names += files.back().path + '\0';
  }
  std::vector<std::uint32_t> dealt(count);
  char* error = nullptr;
  ASSERT_EQ(sabath_deal(names.data(), count, 42, shares, dealt.data(), &error), 0) << value_of(error);
  EXPECT_EQ(dealt, shard::deal(files, 42, shares));
  const std::vector<std::uint32_t> begin(dealt.begin(), dealt.begin() + 10);
  EXPECT_EQ(begin, (std::vector<std::uint32_t>{5, 4, 0, 3, 6, 3, 5, 1, 1, 3}))
      << "a plan is published: it must never change";
  EXPECT_EQ(sabath_deal(names.data(), count, 42, 0, dealt.data(), &error), -1);
  EXPECT_EQ(value_of(error)["error"]["kind"], "usage");
  EXPECT_EQ(sabath_deal(nullptr, 0, 42, 1, nullptr, &error), 0) << "nothing to deal";
}

}  // namespace
}  // namespace sabath::test
