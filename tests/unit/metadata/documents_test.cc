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

#include "recipe/catalogue.h"
#include "recipe/parse.h"
#include "sabath/error.h"
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
