// Documents of other standards as recipes: pages, records, cards, key lists; and recipes as text.
#include "recipe/document.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "recipe/parse.h"
#include "sabath/error.h"
#include "sabath/metadata.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

DocumentPlace page_place() { return {"https://a.example/set/page", Url::parse("https://a.example/set/page")}; }

DocumentRecipe read_as(std::string_view text, const DocumentPlace& place = page_place()) {
  auto document = try_read_document(text, place);
  if (!document) throw Error(FailureKind::internal, "it is no document");
  return std::move(*document);
}

std::string refusal_of(std::string_view text, const DocumentPlace& place = page_place()) {
  try {
    (void)read_as(text, place);
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::invalid);
    EXPECT_TRUE(error.failure().message.starts_with(place.origin + ":")) << error.what();
    return error.failure().message;
  }
  return "";
}

// What is written is read again as the same.
Recipe written_again(const Recipe& recipe) {
  const std::string text = text_of_recipe(recipe);
  Recipe again = parse_recipe(text, "again.json", recipe.kind);
  EXPECT_EQ(text_of_recipe(again), text);
  return again;
}

constexpr std::string_view dataset_page = R"({"@context":"https://schema.org/","@type":"Dataset","name":"Rain, 2020",
  "description":"How much it rained","license":"https://creativecommons.org/licenses/by/4.0/","url":"https://a.example/set/",
  "identifier":[{"@type":"PropertyValue","propertyID":"doi","value":"https://doi.org/10.1234/RAIN"}],
  "creator":{"@type":"Person","name":"Carberry, Josiah","@id":"https://orcid.org/0000-0002-1825-0097",
             "affiliation":{"@type":"Organization","name":"Brown"}},
  "datePublished":"2020-03-04","keywords":["rain","weather"],"variableMeasured":[{"@type":"PropertyValue","name":"rain","unitText":"mm"}],
  "spatialCoverage":"Aa",
  "distribution":[{"@type":"DataDownload","encodingFormat":"text/csv","contentUrl":"rain.csv","contentSize":"12 B",
     "sha256":"8bf2edfa0f7d4acf4ac17585f05ab8f9ab8ad05f6b0dde24f7e555d5a2704c68"},
    {"@type":"DataDownload","contentUrl":"https://b.example/more/rain.csv","contentSize":"1.2 MB"},
    {"@type":"DataDownload","encodingFormat":"text/html"}]})";

TEST(Document, OfSchemaOrgInAPage) {
  const std::string html =
      "<!DOCTYPE html>\n<html><!-- <script type=\"application/ld+json\">{no} --><script>var a = '<';</script>"
      "<SCRIPT type='application/ld+json'>{\"@type\":\"WebSite\",\"@context\":\"https://schema.org\"}</SCRIPT>"
      "<script type=\"application/ld+json\">{ this is none</script>"
      "<script type=\"application/ld+json\">" +
      std::string(dataset_page) + "</script></html>";
  const DocumentRecipe document = read_as(html);
  EXPECT_EQ(document.standard, "schema.org");
  const Recipe recipe = written_again(document.recipe);
  EXPECT_EQ(recipe.name, "Rain-2020");
  EXPECT_EQ(recipe.licence, "CC-BY-4.0");
  const Metadata& data = metadata_of(recipe);
  EXPECT_EQ(data.doi, "10.1234/rain");
  EXPECT_EQ(data.creators.at(0).orcid, "0000-0002-1825-0097");
  EXPECT_EQ(data.creators.at(0).affiliation, "Brown");
  EXPECT_EQ(data.format.variables.at(0).unit, "mm");
  ASSERT_EQ(recipe.fragments.size(), 2u);
  EXPECT_EQ(recipe.fragments[0].urls[0].text(), "https://a.example/set/rain.csv");
  EXPECT_EQ(recipe.fragments[0].size_bytes, 12u);
  EXPECT_EQ(recipe.fragments[0].path->text(), "file/rain.csv") << "two files have one name";
  ASSERT_EQ(document.passed_over.size(), 2u);
  EXPECT_NE(document.passed_over[0].find(":7: spatialCoverage"), std::string::npos);
  EXPECT_NE(document.passed_over[1].find("without \"contentUrl\""), std::string::npos);
}

TEST(Document, OfAGraphWithoutFilesIsFetchedByItsDoi) {
  const Recipe recipe =
      written_again(read_as(R"({"@context":"https://schema.org","@graph":[{"@type":"WebPage","name":"x"},
    {"@type":"schema:Dataset","@id":"https://doi.org/10.5281/zenodo.7","name":"S"}]})")
                        .recipe);
  ASSERT_EQ(recipe.fragments.size(), 1u);
  EXPECT_EQ(recipe.fragments[0].type, FragmentType::file_list);
  EXPECT_EQ(recipe.fragments[0].urls[0].text(), "doi:10.5281/zenodo.7");
}

TEST(Document, ContextsOfOthersAreNamedAndNotLoaded) {
  const DocumentRecipe document = read_as(R"({"@context":["https://schema.org/","https://evil.example/context"],
    "@type":"Dataset","name":"S","url":"https://a.example/s"})");
  ASSERT_EQ(document.passed_over.size(), 1u);
  EXPECT_NE(document.passed_over[0].find("https://evil.example/context, which is not loaded"), std::string::npos);
  EXPECT_EQ(document.recipe.access.kind, AccessKind::restricted) << "it names no file";
}

TEST(Document, OfCroissantByItsUrl) {
  constexpr std::string_view text = R"({"@context":{"@vocab":"https://schema.org/"},"@type":"sc:Dataset","name":"c",
    "conformsTo":"http://mlcommons.org/croissant/1.0","distribution":[
    {"@type":"cr:FileObject","@id":"a","contentUrl":"data/a b.csv","sha256":"https://github.com/mlcommons/croissant/issues/80"},
    {"@type":"cr:FileSet","@id":"texts","includes":"data/f*.txt"}]})";
  const Recipe recipe = written_again(read_as(text, {"c", Url::parse("http://127.0.0.1:80/x/metadata.json")}).recipe);
  ASSERT_EQ(recipe.fragments.size(), 2u);
  EXPECT_EQ(recipe.fragments[0].urls[0].text(), "http://127.0.0.1:80/x/data/a%20b.csv");
  EXPECT_EQ(recipe.fragments[1].urls[0].text(), "http://127.0.0.1:80/x/data/f*.txt");
  EXPECT_EQ(recipe.fragments[1].path->text(), "data");
}

// A portal writes "1.2 MB" of every file: more reasons than a recipe may give.
TEST(Document, WithManySizesThatAreNone) {
  std::string text = R"({"@context":{"@vocab":"https://schema.org/"},"@type":"sc:Dataset","name":"c",
    "conformsTo":"http://mlcommons.org/croissant/1.0","distribution":[)";
  for (int i = 0; i < 1200; ++i) {
    text += R"({"@type":"cr:FileObject","@id":"f)" + std::to_string(i) + R"(","contentUrl":"d/)" + std::to_string(i) +
            R"(","contentSize":"1.2 MB"},)";
  }
  text.back() = ']';
  const Recipe recipe = written_again(read_as(text + "}").recipe);
  EXPECT_EQ(recipe.fragments.size(), 1200u);
  EXPECT_EQ(metadata_of(recipe).unknown.size(), 1000u);
}

TEST(Document, MayNotNameFilesAndOtherSchemes) {
  const auto with = [](const std::string& url) {
    return R"({"@context":"https://schema.org","@type":"Dataset","name":"x","distribution":[{"contentUrl":")" + url +
           "\"}]}";
  };
  EXPECT_NE(refusal_of(with("file:///etc/passwd")).find("file of this machine"), std::string::npos);
  EXPECT_NE(refusal_of(with("scp://a.example/f")).find("may not name a scp: URL"), std::string::npos);
  for (const char* path : {"../f", "/etc/passwd", "a/../../b", "%2e%2e/b", "a\\u0000b"})
    EXPECT_NE(refusal_of(with(path)).find("no path below"), std::string::npos) << path;
  EXPECT_NE(refusal_of(R"({"@context":"https://schema.org","@type":"Dataset","name":"x","name":"y"})"), "")
      << "a key twice";
  EXPECT_NE(refusal_of(R"({"@context":"https://schema.org","@type":"Dataset","name":"x","a":)" + std::string(40, '[') +
                       std::string(40, ']') + "}"),
            "")
      << "too deep";
  const std::string large = R"({"@context":"https://schema.org","@type":"Dataset","name":"x","description":")" +
                            std::string(3 << 20, 'a') + "\"}";
  EXPECT_EQ(read_as(large).recipe.description.size(), 64u * 1024);
  EXPECT_FALSE(try_read_document(large + std::string(2 << 20, ' '), page_place())) << "longer than a recipe may be";
}

TEST(Document, OfDataCite) {
  constexpr std::string_view text =
      R"({"data":{"id":"10.1234/x","attributes":{"doi":"10.1234/X","titles":[{"title":"Waves"}],
    "creators":[{"name":"Carberry, Josiah","nameType":"Personal","nameIdentifiers":[{"nameIdentifier":"https://orcid.org/0000-0002-1825-0097"}],
                 "affiliation":["Brown"]}],
    "publicationYear":2021,"subjects":[{"subject":"waves"}],"rightsList":[{"rightsIdentifier":"cc-by-4.0"}],
    "descriptions":[{"description":"Of the sea","descriptionType":"Abstract"}],"version":"1.2","url":"https://a.example/waves",
    "relatedIdentifiers":[{"relationType":"IsDerivedFrom","relatedIdentifier":"10.1234/y","relatedIdentifierType":"DOI"}],
    "contentUrl":CONTENT,"geoLocations":[]}}})";
  const auto with = [&](const std::string& urls) {
    std::string whole(text);
    return whole.replace(whole.find("CONTENT"), 7, urls);
  };
  const DocumentRecipe document = read_as(with("null"));
  const Recipe recipe = written_again(document.recipe);
  EXPECT_EQ(document.standard, "DataCite");
  EXPECT_EQ(recipe.name, "Waves");
  EXPECT_EQ(recipe.licence, "CC-BY-4.0");
  EXPECT_EQ(metadata_of(recipe).published, "2021");
  EXPECT_EQ(metadata_of(recipe).related.at(0).target, "https://doi.org/10.1234/y");
  EXPECT_EQ(recipe.fragments.at(0).urls[0].text(), "doi:10.1234/x");
  ASSERT_EQ(document.passed_over.size(), 1u);
  EXPECT_TRUE(document.passed_over[0].ends_with(": geoLocations"));
  const Recipe two = written_again(read_as(with(R"(["https://b.example/a.csv","https://b.example/d/a.csv"])")).recipe);
  EXPECT_EQ(two.fragments.at(1).path->text(), "file-2/a.csv");
}

TEST(Document, OfHuggingFace) {
  constexpr std::string_view text =
      "---\nlicense: mit\npretty_name: \"Tiny digits\"\ntags:\n- image\n- mnist\nsize_categories:\n"
      "  - 10K<n<100K\ndataset_info:\n  features:\n  - name: image\n    dtype: image\n---\n# Tiny\n\nDigits "
      "of\nhands.\n\nMore.\n";
  const Url url = Url::parse("https://huggingface.co/datasets/lab/tiny/raw/main/README.md");
  const DocumentRecipe document = read_as(text, {url.text(), url});
  const Recipe recipe = written_again(document.recipe);
  EXPECT_EQ(recipe.name, "tiny");
  EXPECT_EQ(recipe.title, "Tiny digits");
  EXPECT_EQ(recipe.description, "Digits of\nhands.");
  EXPECT_EQ(recipe.licence, "MIT");
  EXPECT_EQ(metadata_of(recipe).keywords, (std::vector<std::string>{"image", "mnist"}));
  EXPECT_EQ(recipe.fragments.at(0).urls[0].text(), "hf://datasets/lab/tiny");
  ASSERT_EQ(document.passed_over.size(), 1u);
  EXPECT_TRUE(document.passed_over[0].ends_with(":9: dataset_info"));
  const Recipe local = written_again(read_as(text, {"/home/u/README.md", {}}).recipe);
  EXPECT_TRUE(local.fragments.empty());
  EXPECT_EQ(local.access.kind, AccessKind::restricted);
  EXPECT_NE(refusal_of("---\na: 1\na: 2\n---\n").find("appears twice"), std::string::npos);
  EXPECT_NE(refusal_of("---\na: [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]\n---\n").find("too deep"), std::string::npos);
  EXPECT_NE(refusal_of("---\n- a\n---\n").find("no keys"), std::string::npos);
  EXPECT_EQ(read_as("---\nlicense: &a mit\npretty_name: P\ntags: [*a, *a]\n---\n").recipe.title, "P")
      << "aliases are not followed";
}

TEST(Document, OfKeyLists) {
  constexpr std::string_view data = R"("@id": "http://a.example/D7",
   "@title" : "Clouds",
   "hpc:submitter" : "admin",
   "hpc:tags" : ["Version" : 0.2, "License" : "MIT",
   "tasks" : "which clo
      uds"],
   "hpc:associatedFiles" : "cut_clouds",
   "hpc:colour" : "grey",)";
  const DocumentRecipe document = read_as(data);
  const Recipe recipe = written_again(document.recipe);
  EXPECT_EQ(recipe.kind, AssetKind::dataset);
  EXPECT_EQ(recipe.name, "Clouds");
  EXPECT_EQ(recipe.version, "0.2");
  EXPECT_EQ(recipe.licence, "MIT");
  EXPECT_EQ(metadata_of(recipe).tags.at("tasks"), "which clouds") << "a text goes on in the next line";
  EXPECT_EQ(metadata_of(recipe).related.at(0).target, "cut_clouds");
  ASSERT_EQ(document.passed_over.size(), 1u);
  EXPECT_TRUE(document.passed_over[0].ends_with(":8: hpc:colour"));
  const Recipe model = written_again(
      read_as(R"({"@id":"http://a.example/M","@title":"Net","hpc:modelFormat":"onnx","hpc:isTunable":"false",
    "hpc:hyperParams":"","hpc:metrics":"speed, memory","hpc:acceleratorSupport":"true","hpc:tags":{"dataset":"C"}})")
          .recipe);
  EXPECT_EQ(model.kind, AssetKind::model);
  EXPECT_EQ(metadata_of(model).model.metrics, (std::vector<std::string>{"speed", "memory"}));
  EXPECT_EQ(metadata_of(model).model.tunable, false);
  const Recipe run = written_again(
      read_as(R"("@id" : "http://a.example/E9" "hpc:sysConfig" : ["THREADS":"4", "binding":["kind": "close"]]
    "hpc:associatedDataset" : ["A.csv","B.csv"],)")
          .recipe);
  EXPECT_EQ(run.kind, AssetKind::workflow);
  EXPECT_EQ(metadata_of(run).experiment.system.at("binding.kind"), "close");
  EXPECT_EQ(metadata_of(run).experiment.datasets.size(), 2u);
  for (const char* bad : {R"("hpc:a" : )", R"("hpc:a" : ["b":1, 2])", R"("hpc:a" "b")", R"("hpc:a" : "b)",
                          R"("hpc:a":1,"hpc:a":2)", R"({"hpc:a":1} x)", R"("hpc:a" : nothing)"})
    EXPECT_NE(refusal_of(bad), "") << bad;
  EXPECT_NE(refusal_of(R"("hpc:a" : )" + std::string(100'000, '[')).find("nested too deep"), std::string::npos);
}

// The listings as they are printed, where the papers are at hand.
TEST(Document, OfThePapersListings) {
  const char* test_data = std::getenv("SABATH_TEST_DATA");
  const fs::path papers = test_data == nullptr ? fs::path() : fs::path(test_data).parent_path() / "seeds";
  if (!fs::is_directory(papers)) GTEST_SKIP() << "SABATH_TEST_DATA has no papers beside it";
  std::vector<Recipe> found;
  for (const auto& entry : fs::directory_iterator(papers)) {
    std::ifstream file(entry.path());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (std::size_t at = text.find("```\n"); at != text.npos; at = text.find("```\n", at + 4)) {
      const std::size_t end = text.find("```", at + 4);
      const std::string block = text.substr(at + 4, end - at - 4);
      if (block.find("\"hpc:") == block.npos) continue;
      found.push_back(written_again(read_as(block, {"listing", {}}).recipe));
    }
  }
  if (found.empty()) GTEST_SKIP() << "the papers at hand have no such listing";
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].title, "MNIST");
  EXPECT_EQ(metadata_of(found[0]).tags.at("License"), "MIT");
  EXPECT_EQ(metadata_of(found[1]).model.type, "SSD");
  EXPECT_EQ(metadata_of(found[2]).experiment.system.at("OMP_NUM_THREADS"), "4");
  EXPECT_EQ(metadata_of(found[2]).experiment.datasets.size(), 3u);
}

TEST(Document, OrNone) {
  for (const char* text : {"", "{}", "[]", "a text", R"({"schema":1,"kind":"dataset","name":"x","tags":{"hpc:a":"b"}})",
                           "<html></html>", "---\nno end", "\xff\xfe"})
    EXPECT_FALSE(try_read_document(text, page_place())) << text;
}

}  // namespace
}  // namespace sabath
