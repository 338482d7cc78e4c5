// The recipe of a converted asset names all that it was made of.
#include "convert/conversion_recipe.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "recipe/parse.h"

namespace sabath {
namespace {

using Json = nlohmann::json;

ConversionSource source_of(const std::string& name, const std::string& licence, std::vector<std::string> citation) {
  ConversionSource source;
  source.asked.model = name + "/model.onnx";
  source.name = name;
  source.digest = sha256("the file of " + name);
  source.root = sha256(name);
  source.recipe.emplace();
  source.recipe->name = name;
  source.recipe->title = "The " + name;
  source.recipe->homepage = "https://" + name + ".example";
  source.recipe->licence = licence;
  source.recipe->citation = std::move(citation);
  return source;
}

Json recipe_of(const std::vector<ConversionSource>& sources, bool merge) {
  ConvertRequest request;
  request.merge = merge;
  const auto step = conversion_step(sources, request, sha256("key"), "close");
  const std::string text = conversion_recipe(sources, request, "both", sha256("root"), step);
  EXPECT_EQ(parse_recipe(text, "both.json", AssetKind::model).name, "both");
  return Json::parse(text);
}

TEST(ConversionRecipe, OfOneModelIsAsItsSource) {
  const Json recipe = recipe_of({source_of("encoder", "MIT", {"@misc{e}"})}, false);
  EXPECT_EQ(recipe["title"], "The encoder converted to ONNX: close");
  EXPECT_EQ(recipe["homepage"], "https://encoder.example");
  EXPECT_EQ(recipe["licence"], "MIT");
  EXPECT_FALSE(recipe["derived"]["arguments"].contains("parents"));
}

TEST(ConversionRecipe, OfSeveralNamesEach) {
  const auto encoder = source_of("encoder", "MIT", {"@misc{e}", "@misc{c}"}),
             decoder = source_of("decoder", "GPL-2.0-only OR MIT", {"@misc{d}", "@misc{c}"});
  const Json recipe = recipe_of({encoder, decoder}, true);
  EXPECT_EQ(recipe["title"], "The encoder and The decoder converted to ONNX: close");
  EXPECT_TRUE(recipe["homepage"].is_null());
  EXPECT_EQ(recipe["licence"], "MIT AND (GPL-2.0-only OR MIT)");
  EXPECT_EQ(recipe["citation"], (Json{"@misc{e}", "@misc{c}", "@misc{d}"}));
  EXPECT_EQ(recipe["derived"]["from"], "encoder");
  EXPECT_EQ(recipe["derived"]["arguments"]["parents"],
            "encoder " + sha256("encoder").prefixed() + ", decoder " + sha256("decoder").prefixed());
  const std::string again = recipe["access"]["steps"][0];
  EXPECT_NE(again.find("merged to one graph"), std::string::npos) << again;
  EXPECT_NE(again.find("encoder/model.onnx,decoder/model.onnx"), std::string::npos) << again;
}

TEST(ConversionRecipe, AnUnknownLicenceStaysUnknown) {
  auto plain = source_of("plain", "", {});
  plain.recipe.reset();
  plain.root.reset();
  const Json recipe = recipe_of({source_of("encoder", "MIT", {}), plain}, true);
  EXPECT_TRUE(recipe["licence"].is_null());
  EXPECT_NE(recipe["derived"]["arguments"]["parents"].get<std::string>().find("plain " + plain.digest.prefixed()),
            std::string::npos);
}

}  // namespace
}  // namespace sabath
