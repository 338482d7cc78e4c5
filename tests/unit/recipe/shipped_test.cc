// The recipes that come with the program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/text.h"
#include "recipe/catalogue.h"
#include "recipe/command_template.h"
#include "recipe/parse.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

std::map<std::string, Recipe> shipped(AssetKind kind) {
  std::map<std::string, Recipe> recipes;
  for (Catalogue::Listed& listed : Catalogue({}, {fs::path(SABATH_SOURCE_DIR) / "recipes"}).all(kind)) {
    EXPECT_EQ(listed.problem, "");
    if (!listed.recipe) continue;
    EXPECT_EQ(fs::path(listed.file).stem(), listed.recipe->name);
    EXPECT_EQ(listed.recipe->schema, 1);
    recipes.emplace(listed.recipe->name, std::move(*listed.recipe));
  }
  return recipes;
}

TEST(ShippedRecipes, AreReadableAndNamedOnce) {
  for (const AssetKind kind : {AssetKind::dataset, AssetKind::model}) {
    std::set<std::string> names;
    for (const auto& [name, recipe] : shipped(kind)) EXPECT_TRUE(names.insert(to_lower(name)).second) << name;
    EXPECT_GE(names.size(), 7u);
  }
}

TEST(ShippedRecipes, ModelsRunOnDatasetsThatExist) {
  const std::string made_here = "cosmouniverse_quickstart";  // scripts/quickstart makes the data, and their recipe
  const auto datasets = shipped(AssetKind::dataset);
  for (const auto& [name, model] : shipped(AssetKind::model)) {
    if (!model.fragments.empty() && !model.git && !model.source) continue;  // a model's file, and no code
    EXPECT_TRUE(model.git || model.source) << name;
    EXPECT_TRUE(datasets.contains(model.default_dataset) || model.default_dataset == made_here) << name;
    EXPECT_FALSE(model.run.empty()) << name;
    if (model.source) {
      EXPECT_TRUE(fs::is_directory(fs::path(SABATH_SOURCE_DIR) / "recipes/models" / model.source->text())) << name;
    }
    for (const auto& [set, steps] : model.run) {
      if (set == made_here) continue;
      const auto dataset = datasets.find(set);
      ASSERT_NE(dataset, datasets.end()) << name << " runs on " << set;
      std::set<std::string> ids;
      for (const Fragment& fragment : dataset->second.fragments) ids.insert(fragment.id);
      for (const Step& step : steps) {
        EXPECT_FALSE(step.shell) << name << ": no step needs a shell";
        for (const std::string& word : step.argv) {
          for (const TemplatePiece& piece : parse_template(word)) {
            if (piece.kind == TemplatePiece::Kind::dataset_fragment ||
                piece.kind == TemplatePiece::Kind::dataset_fragment_directory) {
              EXPECT_TRUE(ids.contains(piece.text)) << name << ", " << set << ": {dataset." << piece.text << '}';
            }
          }
        }
      }
    }
  }
}

TEST(ShippedRecipes, AgreeWithTheOriginalOnSizesAndChecksums) {
  const char* data = std::getenv("SABATH_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "SABATH_TEST_DATA does not name a directory with original-sabath";
  // The original lies as ROOT/var/sabath/assets/NAMESPACE/datasets; the copy starts at the namespace.
  const Catalogue original({}, {fs::path(data) / "original-sabath/sabath"});
  const auto datasets = shipped(AssetKind::dataset);
  std::size_t compared = 0;
  for (const Catalogue::Listed& listed : original.all(AssetKind::dataset)) {
    ASSERT_TRUE(listed.recipe) << listed.problem;
    const auto ours = datasets.find(listed.recipe->name);
    ASSERT_NE(ours, datasets.end()) << listed.recipe->name;
    for (const Fragment& theirs : listed.recipe->fragments) {
      for (const Fragment& fragment : ours->second.fragments) {
        if (fragment.id != theirs.id || !theirs.size_bytes) continue;
        EXPECT_EQ(fragment.size_bytes, theirs.size_bytes) << listed.recipe->name;
        EXPECT_EQ(fragment.checksum, theirs.checksum) << listed.recipe->name;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 3u);
}

TEST(ShippedRecipes, AnswerToTheNamesOfTheOriginal) {
  const Catalogue catalogue({}, {fs::path(SABATH_SOURCE_DIR) / "recipes"});
  EXPECT_EQ(catalogue.find("CosmoFlow", AssetKind::model).name, "cosmoflow");
  EXPECT_EQ(catalogue.find("PtychoNN", std::nullopt).name, "ptychonn");
  EXPECT_EQ(catalogue.find("cosmoflow", std::nullopt).default_dataset, "cosmoUniverse_2019_05_4parE_tf_v2_mini");
  EXPECT_EQ(catalogue.find("miniWeatherML", std::nullopt).kind, AssetKind::dataset);
  EXPECT_EQ(catalogue.find("miniWeatherML", AssetKind::model).name, "miniweatherml");
}

TEST(Documentation, ItsFirstRecipeIsGood) {
  std::ifstream page(fs::path(SABATH_SOURCE_DIR) / "docs/recipes.md");
  std::string json;
  for (std::string line; std::getline(page, line) && trim(line) != "}";) {
    if (trim(line) == "{" || !json.empty()) json += line + '\n';
  }
  EXPECT_EQ(parse_recipe(json + "}", "docs/recipes.md", AssetKind::dataset).name, "one");
}

}  // namespace
}  // namespace sabath
