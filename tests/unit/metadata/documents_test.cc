// What is written of a recipe, judged by other programs: documents_check.py has pyld, rdflib and a BibTeX and YAML
// reader.
#include "metadata/documents.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/text.h"
#include "recipe/catalogue.h"
#include "recipe/document.h"
#include "recipe/parse.h"
#include "sabath/error.h"
#include "sabath/metadata.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// Says all that a recipe can say, in texts that JSON, TeX and YAML each would misread.
constexpr const char* full =
    R"({"schema":1,"kind":"dataset","name":"full","version":"1.0.0","title":"A 100% \"full\" set: {x} & $y_1",
  "abstract":"Line one.\nLine two: # no comment","homepage":"https://a.example/home","licence":"CC-BY-4.0",
  "id":"urn:uuid:2c9d9c3e-5a3f-5c0e-9b0b-2a8f4f3f0a11","doi":"10.5281/zenodo.1234567","published":"2021-03-04",
  "creators":[{"name":"Carberry, Josiah","orcid":"0000-0002-1825-0097","affiliation":"Brown University"},
    {"name":"Prabhat"},{"name":"O'Neil & Sons","type":"organization"}],
  "submitter":{"name":"Doe, Jane"},"tags":{"task":"regression","Version":"9"},"keywords":["cosmology","HDF5: large"],
  "related":[{"relation":"IsDerivedFrom","target":"https://doi.org/10.5281/zenodo.5904188"},{"relation":"IsRequiredBy","target":"cosmoflow"}],
  "format":{"names":["HDF5"],"media_types":["application/x-hdf5"],"conforms_to":["https://cfconventions.org/"],
    "variables":[{"name":"full","dtype":"int16","unit":"1","shape":[512,512,512,4]},{"name":"x","shape":[null,3]}]},
  "references":["https://arxiv.org/abs/1808.04728","a book"],
  "fragments":[{"id":"main","type":"file","urls":["https://a.example/f.hdf5","https://b.example/f.hdf5?x-token=abc","https://c.example/f.hdf5"],
    "size":123,"checksum":{"sha256":"8bf2edfa0f7d4acf4ac17585f05ab8f9ab8ad05f6b0dde24f7e555d5a2704c68"}},
    {"id":"tar","type":"archive","urls":["https://a.example/t.tar"],"path":"t","checksum":{"md5":"117fe38c073b34d79950be871f7e2c0c"}}],
  "metadata":{"samples.train":1024},"unknown":{"git":"there is no code"},"read_from":{"licence":"https://a.example/home"}})";

constexpr const char* root = "sha256:8bf2edfa0f7d4acf4ac17585f05ab8f9ab8ad05f6b0dde24f7e555d5a2704c68";

// Of a source tree, with what a document says of no other.
constexpr const char* code =
    R"({"schema":1,"kind":"library","name":"code","access":{"kind":"login","steps":["Ask at https://a.example"]},
  "git":{"origin":"https://a.example/code.git","tag":"v1"},"forks":[{"origin":"https://b.example/code.git"}],
  "manifest":{"digest":"sha256:8bf2edfa0f7d4acf4ac17585f05ab8f9ab8ad05f6b0dde24f7e555d5a2704c68","urls":["https://a.example/m"]},
  "reach":"site"})";

// Without the URL that has a key in it.
std::string shown_only(std::string text) {
  const std::string url = "\"https://b.example/f.hdf5?x-token=abc\",";
  return text.erase(text.find(url), url.size());
}

Recipe full_recipe() { return parse_recipe(full, "full.json", AssetKind::dataset); }

std::string written(std::string_view format, const Recipe& recipe) {
  return find_metadata_format(format).write({recipe, root});
}

TEST(Documents, OfOneRecipeAreEqualEachTime) {
  const Recipe recipe = full_recipe();
  for (const MetadataFormat& format : metadata_formats()) {
    EXPECT_EQ(format.write({recipe, root}), format.write({full_recipe(), root})) << format.name;
    EXPECT_TRUE(format.write({recipe, root}).ends_with("\n")) << format.name;
    EXPECT_EQ(format.write({recipe, root}).find("x-token"), std::string::npos) << format.name << ": a URL with a key";
  }
}

TEST(Documents, OfAnUnknownFormatAreRefused) {
  try {
    (void)find_metadata_format("croisant");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::usage);
    EXPECT_NE(error.failure().message.find("croissant"), std::string::npos);
  }
}

std::vector<Recipe> recipes_to_describe() {
  std::vector<Recipe> recipes{parse_recipe(shown_only(full), "full.json", AssetKind::dataset),
                              parse_recipe(code, "code.json", AssetKind::library)};
  for (Catalogue::Listed& listed : Catalogue({}, {fs::path(SABATH_SOURCE_DIR) / "recipes"}).all(std::nullopt))
    if (listed.recipe) recipes.push_back(std::move(*listed.recipe));
  return recipes;
}

DocumentRecipe read_back(const std::string& text) {
  auto read = try_read_document(text, {"document.json", std::nullopt});
  if (!read) throw std::runtime_error("no document: " + text.substr(0, 200));
  return std::move(*read);
}

TEST(Documents, ComeBackEqual) {
  for (const Recipe& recipe : recipes_to_describe()) {
    for (const char* format : {"jsonld", "hpc", "schema.org"}) {
      const std::string text = written(format, recipe);
      const Recipe back = read_back(text).recipe;
      EXPECT_EQ(text_of_recipe(back), text_of_recipe(recipe)) << format;
      // What was read where, of how a model runs, goes with that.
      if (!is_code(recipe.kind)) {
        EXPECT_EQ(written(format, back), text) << recipe.name;
      }
      const std::string other_layout = nlohmann::json::parse(text).dump();
      EXPECT_EQ(text_of_recipe(read_back(other_layout).recipe), text_of_recipe(recipe)) << format;
    }
  }
}

// Each format keeps what it has a term for.
TEST(Documents, OfOthersStandardsComeBackAsFarAsTheyGo) {
  for (const Recipe& recipe : recipes_to_describe()) {
    if (recipe.kind != AssetKind::dataset) continue;
    for (const char* format : {"croissant", "datacite"}) {
      if (std::string_view(format) == "datacite" && metadata_of(recipe).published.empty()) continue;
      const Recipe back = read_back(written(format, recipe)).recipe;
      const Metadata &said = metadata_of(recipe), &read = metadata_of(back);
      const std::string where = recipe.name + " as " + format;
      EXPECT_EQ(back.title, recipe.title.empty() ? recipe.name : recipe.title) << where;
      EXPECT_EQ(back.version, recipe.version) << where;
      EXPECT_EQ(back.licence, recipe.licence) << where;
      EXPECT_EQ(read.id, said.id) << where;
      EXPECT_EQ(to_lower(read.doi), to_lower(said.doi)) << where;
      EXPECT_EQ(read.published, said.published) << where;
      EXPECT_EQ(read.keywords, said.keywords) << where;
      std::vector<std::string> creators, creators_read;
      for (const Party& party : said.creators) creators.push_back(party.name + party.orcid);
      for (const Party& party : read.creators) creators_read.push_back(party.name + party.orcid);
      EXPECT_EQ(creators_read, creators) << where;
      if (std::string_view(format) != "croissant") continue;
      EXPECT_EQ(back.name, recipe.name) << where;
      ASSERT_EQ(back.fragments.size(), recipe.fragments.size()) << where;
      for (std::size_t i = 0; i < back.fragments.size(); ++i) {
        EXPECT_EQ(back.fragments[i].id, recipe.fragments[i].id) << where;
        EXPECT_EQ(back.fragments[i].urls, recipe.fragments[i].urls) << where;
        EXPECT_EQ(back.fragments[i].size_bytes, recipe.fragments[i].size_bytes) << where;
        EXPECT_EQ(back.fragments[i].checksum.sha256, recipe.fragments[i].checksum.sha256) << where;
      }
    }
  }
}

TEST(Documents, OfOursThatWereChangedCountByTheirTerms) {
  auto document = nlohmann::ordered_json::parse(written("jsonld", full_recipe()));
  document["schema:name"] = "other";
  EXPECT_EQ(read_back(document.dump()).recipe.name, "other");
  document = nlohmann::ordered_json::parse(written("hpc", full_recipe()));
  document["title"] = "Another title";
  const Recipe changed = read_back(document.dump()).recipe;
  EXPECT_EQ(changed.title, "Another title");
  EXPECT_EQ(metadata_of(changed).id, metadata_of(full_recipe()).id);
  EXPECT_FALSE(metadata_of(changed).tags.contains("@context.@vocab"));
}

TEST(Documents, BringNoCodeAndNoFileOfThisMachine) {
  Recipe model = parse_recipe(
      R"({"schema":1,"kind":"model","name":"m","run":{"d":[{"argv":["sh"]}]},"source":"code","default_dataset":"d",
          "fragments":[{"id":"f","type":"file","urls":["file:///etc/passwd"]}]})",
      "m.json", AssetKind::model);
  const std::string text = written("jsonld", model);
  const Recipe back = read_back(text).recipe;
  EXPECT_TRUE(back.run.empty());
  EXPECT_FALSE(back.source);
  const DocumentPlace elsewhere{"https://a.example/m.jsonld", Url::parse("https://a.example/m.jsonld")};
  EXPECT_THROW((void)try_read_document(text, elsewhere), Error);
}

TEST(Documents, SayWhatTheRecipeLacks) {
  const Recipe bare = parse_recipe(R"({"schema":1,"kind":"model","name":"m"})", "m.json", AssetKind::model);
  for (const auto& [format, key] : {std::pair("datacite", "published"), {"bibtex", "creators"}, {"cff", "creators"}}) {
    try {
      (void)written(format, bare);
      ADD_FAILURE() << format;
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::not_found);
      EXPECT_NE(error.failure().message.find(key), std::string::npos) << error.what();
    }
  }
  for (const char* format : {"jsonld", "hpc", "schema.org", "croissant", "ro-crate"})
    EXPECT_TRUE(nlohmann::json::accept(written(format, bare))) << format;
}

TEST(Documents, AreWhatOtherProgramsRead) {
  const test::TempDir directory;
  std::map<std::string, Recipe> recipes{{"full", full_recipe()}};
  for (Catalogue::Listed& listed : Catalogue({}, {fs::path(SABATH_SOURCE_DIR) / "recipes"}).all(std::nullopt))
    if (listed.recipe)
      recipes.emplace(fmt::format("{}-{}", recipes.size(), listed.recipe->name), std::move(*listed.recipe));
  EXPECT_GT(recipes.size(), 40u);
  for (const auto& [name, recipe] : recipes) {
    for (const MetadataFormat& format : metadata_formats()) {
      try {
        const std::string text = format.write({recipe, root});
        std::ofstream(directory / (name + "@" + std::string(format.name))) << text;
      } catch (const Error& error) {
        EXPECT_EQ(error.failure().kind, FailureKind::not_found) << error.what();
        EXPECT_NE(name, "full") << error.what();
      }
    }
  }
  test::ChildProcess child(
      {SABATH_PYTHON, fs::path(SABATH_SOURCE_DIR) / "tests/unit/metadata/documents_check.py", directory.path()},
      directory / "log");
  const int code = child.wait();
  std::ifstream log(directory / "log");
  const std::string said(std::istreambuf_iterator<char>(log), {});
  if (code == 77) GTEST_SKIP() << said;
  EXPECT_EQ(code, 0) << said;
}

}  // namespace
}  // namespace sabath
