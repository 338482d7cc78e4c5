#include "recipe/metadata.h"

#include <gtest/gtest.h>

#include "recipe/parse.h"
#include "recipe_cases.h"

namespace sabath {
namespace {

TEST(Metadata, IsWhatTheRecipeSays) {
  const Recipe recipe = parse_recipe(test::model_with(R"("id":"urn:x:1","doi":"10.1234/ABC","published":"2020",
    "creators":[{"name":"Mathuriya, Amrita","affiliation":"A"},{"name":"Prabhat"},{"name":"A, B and C","type":"organization"}],
    "submitter":{"name":"Luszczek, Piotr","orcid":"0000-0002-1825-0097"},"tags":{"task":"regression","n":4,"x":null},
    "keywords":["cosmology"],"related":[{"relation":"IsDerivedFrom","target":"two"}],
    "format":{"names":["HDF5"],"variables":[{"name":"full","dtype":"int16","shape":[512,null]}]},
    "model":{"framework":"PyTorch","tunable":false,"hyper_parameters":{"lr":0.1}},
    "unknown":{"licence":"none is stated"},"read_from":{"doi":"https://a.example/"})"),
                                     "m.json", AssetKind::model);
  const Metadata& data = metadata_of(recipe);
  EXPECT_EQ(data.id, "urn:x:1");
  EXPECT_EQ(data.doi, "10.1234/abc") << "DOIs know no case";
  ASSERT_EQ(data.creators.size(), 3u);
  EXPECT_EQ(data.creators[0].family(), "Mathuriya");
  EXPECT_EQ(data.creators[0].given(), "Amrita");
  EXPECT_EQ(data.creators[0].shown(), "Amrita Mathuriya");
  EXPECT_EQ(data.creators[1].shown(), "Prabhat");
  EXPECT_EQ(data.creators[2].shown(), "A, B and C") << "an organization's name has no parts";
  EXPECT_EQ(data.submitter->orcid, "0000-0002-1825-0097");
  EXPECT_EQ(data.tags, (std::map<std::string, std::string>{{"n", "4"}, {"task", "regression"}}));
  EXPECT_EQ(data.related[0].target, "two");
  ASSERT_EQ(data.format.variables.size(), 1u);
  EXPECT_EQ(data.format.variables[0].shape->at(0), 512u);
  EXPECT_EQ(data.format.variables[0].shape->at(1), std::nullopt);
  EXPECT_EQ(data.model.tunable, false);
  EXPECT_EQ(data.model.hyper_parameters.at("lr"), "0.1");
  EXPECT_EQ(data.unknown.at("licence"), "none is stated");
  EXPECT_EQ(data.read_from.at("doi").front(), "https://a.example/");
}

TEST(Metadata, OfARecipeThatSaysNothingIsEmpty) {
  const Recipe recipe = parse_recipe(test::fragment_with(""), "one.json", AssetKind::dataset);
  EXPECT_EQ(recipe.about, nullptr);
  EXPECT_EQ(metadata_of(recipe).id, "");
  EXPECT_TRUE(metadata_of(recipe).model.empty());
}

TEST(Shapes, OfIdentifiersAreJudged) {
  for (const char* good : {"0000-0002-1825-0097", "0000-0001-5109-3700", "0000-0002-1694-233X"})
    EXPECT_TRUE(is_orcid(good)) << good;  // of ORCID's own documentation
  for (const char* bad : {"", "0000-0002-1825-0079", "0000-0002-1694-2330", "0000000218250097", "0000-0002-1825-009"})
    EXPECT_FALSE(is_orcid(bad)) << bad;
  EXPECT_TRUE(is_doi("10.1000.10/123(4)a;b"));
  EXPECT_FALSE(is_doi("10.1234/a b"));
  EXPECT_FALSE(is_doi("10.1234/\xc3\xa9"));
  EXPECT_TRUE(is_date("2024-02-29"));
  EXPECT_FALSE(is_date("2023-02-29"));
  EXPECT_FALSE(is_date("0000"));
  EXPECT_TRUE(is_uri("swh:1:rev:3375cf98206a83f329faaf4c74eed924f3f4a2fe"));
  EXPECT_FALSE(is_uri("C:/x"));
}

}  // namespace
}  // namespace sabath
