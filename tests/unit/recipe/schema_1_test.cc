#include <gtest/gtest.h>

#include <string>

#include "recipe/parse.h"
#include "recipe_cases.h"
#include "sabath/error.h"

namespace sabath {
namespace {

using test::RecipeCase;

void expect_verdict(const RecipeCase& c) {
  try {
    (void)parse_recipe(c.json, "r.json", AssetKind::dataset);
    EXPECT_EQ(c.message, "") << c.json;
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::invalid);
    EXPECT_TRUE(error.failure().message.starts_with("r.json:")) << error.what();
    ASSERT_NE(c.message, "") << error.what() << "\n" << c.json;
    EXPECT_NE(error.failure().message.find(c.message), std::string::npos) << error.what() << "\n" << c.json;
    EXPECT_EQ(error.failure().message.find("secret"), std::string::npos) << error.what();
  }
}

TEST(Schema1, GivesTheVerdictOfTheTable) {
  for (const RecipeCase& c : test::schema_1_cases()) expect_verdict(c);
}

TEST(Schema1, GivesTheVerdictOfTheTableOfChecks) {
  for (const RecipeCase& c : test::check_cases()) expect_verdict(c);
}

TEST(Schema0, GivesTheVerdictOfTheTable) {
  for (const RecipeCase& c : test::schema_0_cases()) expect_verdict(c);
}

TEST(Schema1, FillsTheRecipe) {
  const Recipe recipe =
      parse_recipe(R"({"schema":1,"kind":"dataset","name":"one","version":"1.2","title":"T","licence":"CC-BY-4.0",
    "access":{"kind":"login","steps":["a","b"]},
    "fragments":[{"id":"main","type":"file","urls":["https://a.example/d/f%20g.bin","s3://b/f"],"size":123,
      "checksum":{"sha256":"ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB"}},
      {"id":"list","type":"file_list","path":"l","urls":["https://a.example/list.txt"],"limit":7},
      {"id":"tar","type":"archive","urls":["https://a.example/a.tar"]}],
    "manifest":{"digest":"sha256:0100000000000000000000000000000000000000000000000000000000000000","urls":["https://a.example/m"]},
    "metadata":{"samples":1024,"target":0.124,"gzip":true,"unknown":null,"text":"x"}})",
                   "dir/one.json", AssetKind::model);
  EXPECT_EQ(recipe.schema, 1);
  EXPECT_EQ(recipe.kind, AssetKind::dataset) << "schema 1 says itself what it is";
  EXPECT_EQ(recipe.version, "1.2");
  EXPECT_EQ(recipe.licence, "CC-BY-4.0");
  EXPECT_EQ(recipe.origin, "dir/one.json");
  EXPECT_EQ(recipe.access.kind, AccessKind::login);
  EXPECT_EQ(recipe.access.steps.size(), 2u);
  ASSERT_EQ(recipe.fragments.size(), 3u);
  EXPECT_EQ(recipe.fragments[0].path, RelativePath::parse("f g.bin"));
  EXPECT_EQ(recipe.fragments[0].urls.size(), 2u);
  EXPECT_EQ(recipe.fragments[0].size_bytes, 123u);
  EXPECT_EQ(recipe.fragments[0].checksum.sha256.substr(0, 4), "abab");
  EXPECT_EQ(recipe.fragments[1].limit, 7u);
  EXPECT_EQ(recipe.fragments[2].path, std::nullopt);
  EXPECT_EQ(recipe.manifest->digest.bytes()[0], 1);
  EXPECT_EQ(recipe.metadata, (std::map<std::string, std::string>{
                                 {"samples", "1024"}, {"target", "0.124"}, {"gzip", "true"}, {"text", "x"}}));
}

TEST(Schema1, KeepsRunSetsInOrder) {
  const Recipe recipe =
      parse_recipe(R"({"schema":1,"kind":"model","name":"m","git":{"origin":"https://a.example/r","commit":"ABCDEF0"},
    "run":{"z":[{"argv":["a","{dataset}"]},{"shell":"b | c"}],"a":[{"argv":["d"]}]},"default_dataset":"z"})",
                   "m.json", AssetKind::model);
  ASSERT_EQ(recipe.run.size(), 2u);
  EXPECT_EQ(recipe.run[0].first, "z");
  EXPECT_EQ(recipe.run[0].second[0].argv, (std::vector<std::string>{"a", "{dataset}"}));
  EXPECT_FALSE(recipe.run[0].second[0].shell);
  EXPECT_TRUE(recipe.run[0].second[1].shell);
  EXPECT_EQ(recipe.run[1].first, "a");
  EXPECT_EQ(recipe.git->commit, "abcdef0");
  EXPECT_EQ(recipe.default_dataset, "z");
}

TEST(Schema1, NamesFileAndLine) {
  try {
    (void)parse_recipe(
        "{\"schema\":1,\n\"kind\":\"model\",\n\"name\":\"m\",\n\"run\":{\"one\":[\n{\"argv\":[\"a\",\n\"{datset}\"]}]}"
        "}",
        "recipes/m.json", AssetKind::model);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "recipes/m.json:6: unknown placeholder {datset} (did you mean {dataset}?)");
  }
}

TEST(Schema, KnowsItsVersions) {
  for (const char* json :
       {R"({"schema":2})", R"({"schema":"1"})", R"({"schema":null})", R"({"schema":-1})", R"({"schema":1.0})"}) {
    EXPECT_THROW((void)parse_recipe(json, "r.json", AssetKind::dataset), Error) << json;
  }
}

TEST(Schema, IsBounded) {
  EXPECT_THROW((void)parse_recipe(std::string(recipe_size_max + 1, ' '), "r.json", AssetKind::dataset), Error);
  EXPECT_THROW((void)parse_recipe(std::string(10'000, '['), "r.json", AssetKind::dataset), Error);
}

}  // namespace
}  // namespace sabath
