#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "recipe/parse.h"
#include "sabath/error.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// The recipes of the original SABATH, by name and kind; SABATH_TEST_DATA names the directory that holds
// original-sabath/.
std::vector<Recipe> original_recipes() {
  std::vector<Recipe> recipes;
  const char* data = std::getenv("SABATH_TEST_DATA");
  if (data == nullptr) return recipes;
  const std::pair<const char*, AssetKind> folders[] = {{"datasets", AssetKind::dataset}, {"models", AssetKind::model}};
  for (const auto& [folder, kind] : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(data) / "original-sabath/sabath" / folder)) {
      if (entry.path().extension() != ".json") continue;
      std::ifstream file(entry.path());
      recipes.push_back(
          parse_recipe(std::string(std::istreambuf_iterator<char>(file), {}), entry.path().native(), kind));
    }
  }
  return recipes;
}

TEST(Schema0, ReadsTheOriginalRecipes) {
  const std::vector<Recipe> recipes = original_recipes();
  if (recipes.empty()) GTEST_SKIP() << "SABATH_TEST_DATA does not name a directory with original-sabath";
  ASSERT_EQ(recipes.size(), 12u);
  std::multiset<std::string> names;
  for (const Recipe& recipe : recipes) {
    EXPECT_EQ(recipe.schema, 0);
    names.insert(recipe.name);
    if (recipe.name == "cosmoUniverse_2019_05_4parE_tf_v2_mini") {
      EXPECT_EQ(recipe.fragments.at(0).size_bytes, 5943306240u);
      EXPECT_EQ(recipe.fragments.at(0).checksum.md5, "117fe38c073b34d79950be871f7e2c0c");
      EXPECT_EQ(recipe.fragments.at(0).path, std::nullopt);
    }
    if (recipe.name == "autoPhaseNN_aicdi_sample") {
      EXPECT_EQ(recipe.fragments.at(0).limit, 100u);
    }
    if (recipe.name == "CosmoFlow") {
      EXPECT_EQ(recipe.forks.at(0).origin, "https://github.com/tokey-tahmid/cosmoflow-benchmark.git");
      EXPECT_EQ(recipe.run.at(0).first, "cosmoUniverse_2019_05_4parE_tf_v2_mini");
      EXPECT_TRUE(recipe.run.at(0).second.at(0).shell);
      EXPECT_EQ(recipe.env_vars.at("HOROVOD_WITH_TENSORFLOW"), "1");
    }
    if (recipe.name == "miniWeatherML" && recipe.kind == AssetKind::model) {
      EXPECT_EQ(recipe.metadata.at("git.PnetCDF"), "https://github.com/Parallel-NetCDF/PnetCDF.git");
      EXPECT_EQ(recipe.requirements.system_modules.size(), 4u);
    }
    if (recipe.name == "miniWeatherML" && recipe.kind == AssetKind::dataset) {
      EXPECT_EQ(recipe.fragments.at(0).path, RelativePath::parse("community_benchmark/input_euler3d.yaml"))
          << "three have this name";
      EXPECT_EQ(recipe.fragments.at(1).path, RelativePath::parse("input_building.yaml"));
    }
  }
  EXPECT_EQ(names.count("miniWeatherML"), 2u) << "a dataset and a model";
}

TEST(Schema0, PlacesSeveralArchivesApart) {
  const Recipe recipe = parse_recipe(R"({"name":"a","fragments":[
    {"id":"train","url":"https://a.example/t.tar","type":"archive"},
    {"id":"test","url":"https://a.example/v.tar","type":"archive"},
    {"id":"odd","url":"https://a.example/?download=odd","type":"file"}]})",
                                     "a.json", AssetKind::dataset);
  EXPECT_EQ(recipe.fragments[0].path, RelativePath::parse("train"));
  EXPECT_EQ(recipe.fragments[1].path, RelativePath::parse("test"));
  EXPECT_EQ(recipe.fragments[2].path, RelativePath::parse("odd")) << "its URL ends in no name";
}

TEST(Schema0, RefusesUnknownPlaceholders) {
  try {
    (void)parse_recipe("{\"name\":\"m\",\n\"run\":{\"a\":[\"sed -i {source}/x\",\n\"python {datset}\"]}}", "m.json",
                       AssetKind::model);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::invalid);
    EXPECT_STREQ(error.what(), "m.json:3: unknown placeholder {datset} (did you mean {dataset}?)");
  }
}

}  // namespace
}  // namespace sabath
