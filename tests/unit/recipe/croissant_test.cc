// Croissant documents as recipes: real ones of SABATH_TEST_DATA, and hostile ones.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "recipe/catalogue.h"
#include "recipe/parse.h"
#include "sabath/error.h"
#include "sabath/metadata.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

std::string document(const std::string& distribution) {
  return R"x({"@context":{"@vocab":"https://schema.org/"},"@type":"sc:Dataset","name":"A set (1)",
    "conformsTo":"http://mlcommons.org/croissant/1.1","license":"https://spdx.org/licenses/MIT","version":"1.0.0",
    "creator":[{"@type":"sc:Person","@id":"https://orcid.org/0000-0002-1825-0097","givenName":"Josiah","familyName":"Carberry"}],
    "distribution":[)x" +
         distribution + "]}";
}

Recipe read(const std::string& distribution) {
  return parse_recipe(document(distribution), "/data/set/croissant.json", AssetKind::dataset);
}

std::string refused(const std::string& distribution) {
  try {
    (void)read(distribution);
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::invalid);
    EXPECT_TRUE(error.failure().message.starts_with("/data/set/croissant.json:")) << error.what();
    return error.failure().message;
  }
  return "";
}

TEST(Croissant, BecomesARecipe) {
  const Recipe recipe = read(R"({"@type":"cr:FileObject","@id":"a b","contentUrl":"data/f%201.csv","contentSize":"12 B",
      "sha256":"8bf2edfa0f7d4acf4ac17585f05ab8f9ab8ad05f6b0dde24f7e555d5a2704c68"},
    {"@type":"cr:FileObject","@id":"t","contentUrl":"https://a.example/t.tar","sabath:mirror":["https://b.example/t.tar"],"contentSize":"1.2 GB",
      "sha256":"https://github.com/mlcommons/croissant/issues/80"},
    {"@type":"cr:FileSet","@id":"images","containedIn":{"@id":"t"},"includes":"*.jpg"},
    {"@type":"cr:FileObject","@id":"one","containedIn":{"@id":"t"},"contentUrl":"one.csv"})");
  EXPECT_EQ(recipe.name, "A-set-1");
  EXPECT_EQ(recipe.licence, "MIT");
  EXPECT_EQ(metadata_of(recipe).creators.at(0).family(), "Carberry");
  ASSERT_EQ(recipe.fragments.size(), 2u);
  EXPECT_EQ(recipe.fragments[0].id, "a-b");
  EXPECT_EQ(recipe.fragments[0].urls[0].text(), "file:///data/set/data/f%201.csv");
  EXPECT_EQ(recipe.fragments[0].path, RelativePath::parse("data/f 1.csv"));
  EXPECT_EQ(recipe.fragments[0].size_bytes, 12u);
  EXPECT_EQ(recipe.fragments[1].type, FragmentType::archive) << "others stand in it";
  EXPECT_EQ(recipe.fragments[1].urls.size(), 2u);
  EXPECT_TRUE(recipe.fragments[1].checksum.empty());
  EXPECT_FALSE(recipe.fragments[1].size_bytes);
  EXPECT_NE(metadata_of(recipe).unknown.at("fragments.t.sha256").find("issues/80"), std::string::npos);
  EXPECT_EQ(metadata_of(recipe).unknown.count("fragments.t.size"), 1u);
}

TEST(Croissant, ThatIsHostileOrEmptyIsRefused) {
  for (const char* url : {"../../etc/passwd", "/etc/passwd", "data/../../x", "data/%2e%2e/x", "%2fetc/passwd"})
    EXPECT_NE(refused(R"({"@type":"cr:FileObject","@id":"a","contentUrl":")" + std::string(url) + R"("})")
                  .find("no path below"),
              std::string::npos)
        << url;
  EXPECT_NE(refused(R"({"@type":"cr:FileObject","@id":"a","contentUrl":"file:///etc/passwd"})").find("of this machine"),
            std::string::npos);
  EXPECT_NE(refused(R"({"@type":"cr:FileObject","@id":"a"})").find("contentUrl"), std::string::npos);
  EXPECT_NE(refused("7").find("no object"), std::string::npos);
  EXPECT_EQ(read("").access.kind, AccessKind::restricted) << "without a file it is had by hand";
  EXPECT_EQ(read(R"({"@type":"cr:FileSet","@id":"a","includes":"data/*.txt"})").access.kind, AccessKind::restricted)
      << "no file fits";
  for (const char* pattern : {"../*.txt", "/etc/*", "data/../../*"})
    EXPECT_NE(
        refused(R"({"@type":"cr:FileSet","@id":"a","includes":")" + std::string(pattern) + R"("})").find("no pattern"),
        std::string::npos)
        << pattern;
  EXPECT_NE(refused(R"({"@type":"cr:FileObject","@id":"a","contentUrl":"https://u:secret@a.example/f"})"), "");
  EXPECT_NE(
      refused(
          R"({"@type":"cr:FileObject","@id":"a","contentUrl":"a"},{"@type":"cr:FileObject","@id":"b","contentUrl":"a"})")
          .find("same path"),
      std::string::npos);
}

TEST(Croissant, ThatIsContainedInItselfHasNoFile) {
  const Recipe recipe = read(R"({"@type":"cr:FileObject","@id":"a","containedIn":{"@id":"b"},"contentUrl":"x"},
    {"@type":"cr:FileObject","@id":"b","containedIn":{"@id":"a"},"contentUrl":"y"})");
  EXPECT_TRUE(recipe.fragments.empty());
  EXPECT_EQ(recipe.access.kind, AccessKind::restricted);
}

// Croissant 1.1 allows them as a map, and JSON-LD as a list, too.
TEST(Croissant, InLanguagesIsReadInEnglish) {
  std::string text = document(R"({"@type":"cr:FileObject","@id":"a","contentUrl":"a","name":{"fr":"un"}})");
  const std::string name = R"x("name":"A set (1)",)x";
  text.replace(text.find(name), name.size(),
               R"x("name":{"de":"eine Menge","en":"a set"},"alternateName":{"fr":"jeu","pt-BR":"conjunto"},
    "description":[{"@language":"de","@value":"klein"},{"@language":"en-GB","@value":"small"}],
    "keywords":{"de":["klein","neu"],"en":["small","new"]},"citeAs":["in print"],)x");
  const Recipe recipe = parse_recipe(text, "/data/set/croissant.json", AssetKind::dataset);
  EXPECT_EQ(recipe.name, "a-set");
  EXPECT_EQ(recipe.title, "jeu");
  EXPECT_EQ(recipe.description, "small");
  EXPECT_EQ(metadata_of(recipe).keywords, (std::vector<std::string>{"small", "new"}));
  EXPECT_EQ(recipe.citation, std::vector<std::string>{"in print"});
  EXPECT_EQ(recipe.licence, "MIT");
}

TEST(Croissant, OfManyFilesIsReadInTime) {
  std::string files;
  for (int i = 0; i < 40'000; ++i)
    files += (i == 0 ? "" : ",") + std::string(R"({"@id":"same","contentUrl":"f)") + std::to_string(i) + "\"}";
  const Recipe recipe = read(files);
  EXPECT_EQ(recipe.fragments.size(), 40'000u);
  EXPECT_EQ(recipe.fragments.back().id, "same-40000");
}

TEST(Croissant, OfAnotherVersionIsRefused) {
  std::string text = document(R"({"@type":"cr:FileObject","@id":"a","contentUrl":"a"})");
  text.replace(text.find("/1.1"), 4, "/9.0");
  EXPECT_THROW((void)parse_recipe(text, "c.json", AssetKind::dataset), Error);
}

TEST(Croissant, OfTheWorldIsRead) {
  const char* data = std::getenv("SABATH_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "SABATH_TEST_DATA does not name a directory with croissant";
  std::size_t read_files = 0, here = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(data) / "croissant")) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const Recipe recipe = parse_recipe(text, entry.path().native(), AssetKind::dataset);
    ++read_files;
    for (const Fragment& fragment : recipe.fragments)
      if (fragment.urls[0].scheme() == "file") here += fs::exists(percent_decode(fragment.urls[0].path())) ? 1 : 0;
    EXPECT_EQ(recipe.fragments.empty(), entry.path().stem() == "minimal") << entry.path();
  }
  EXPECT_EQ(read_files, 14u);
  EXPECT_GE(here, 14u);
}

}  // namespace
}  // namespace sabath
