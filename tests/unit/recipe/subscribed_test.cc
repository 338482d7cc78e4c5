// Names of subscribed catalogues: they never stand before ours, and are short only where nothing else has the name.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "recipe/catalogue.h"
#include "recipe/index_file.h"
#include "recipe/subscribed.h"
#include "recipe/versions.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

class Subscribed : public testing::Test {
 protected:
  Subscribed() { fs::create_directories(top_); }
  ~Subscribed() override { fs::remove_all(top_); }

  void put(const std::string& file, const std::string& name, const std::string& version = "1") const {
    fs::create_directories((top_ / file).parent_path());
    std::ofstream(top_ / file) << R"({"schema": 1, "kind": "dataset", "name": ")" << name << R"(", "version": ")"
                               << version << R"(", "fragments": [{"id": "a", "type": "file", "path": "f",)"
                               << R"( "urls": ["https://h.example/)" << file << "\"]}]}";
  }
  void subscribe(const std::string& lab) const {
    fs::create_directories(top_ / "catalogues" / lab / "datasets");
    std::ofstream(top_ / "catalogues" / lab / subscription_file) << "{}";
  }
  [[nodiscard]] Catalogue catalogue() const { return {{}, {top_}}; }
  [[nodiscard]] std::string file_of(const std::string& name) const {
    const auto recipe = catalogue().try_find(name, std::nullopt);
    return recipe ? fs::path(recipe->origin).lexically_relative(top_).string() + " as " + recipe->name : "";
  }

  const fs::path top_ = fs::temp_directory_path() / ("sabath-subscribed-" + std::to_string(::getpid()));
};

TEST_F(Subscribed, TheShortNameIsOursFirst) {
  subscribe("lab");
  put("catalogues/lab/datasets/one.json", "one", "2");
  EXPECT_EQ(file_of("one"), "catalogues/lab/datasets/one.json as one");
  EXPECT_EQ(file_of("lab/one"), "catalogues/lab/datasets/one.json as one");
  EXPECT_EQ(file_of("lab/one@2"), "catalogues/lab/datasets/one.json as one");
  EXPECT_EQ(file_of("lab/one@3"), "");
  EXPECT_EQ(file_of("other/one"), "");
  put("datasets/one.json", "one");
  EXPECT_EQ(file_of("one"), "datasets/one.json as one");
  EXPECT_EQ(file_of("one@2"), "");  // a version does not reach it either
  EXPECT_EQ(file_of("lab/one"), "catalogues/lab/datasets/one.json as lab/one");
  EXPECT_EQ(file_of("LAB/one"), "");
  std::vector<std::string> names;
  for (const auto& listed : catalogue().all(std::nullopt)) names.push_back(listed.recipe->name);
  EXPECT_EQ(names, (std::vector<std::string>{"lab/one", "one"}));
  EXPECT_EQ(catalogue().names(std::nullopt), (std::vector<std::string>{"lab/one", "one"}));
}

TEST_F(Subscribed, ItsSourcesAreNamedByOthers) {
  subscribe("lab");
  put("catalogues/lab/datasets/one.json", "one");
  put("datasets/two.json", "two");
  const auto namer = [&](const std::string& name) {
    return catalogue().find(name, std::nullopt).fragments.front().urls.front().namer();
  };
  const std::string file = (top_ / "catalogues/lab/datasets/one.json").native();
  EXPECT_EQ(namer("two"), std::nullopt);
  for (const std::string& name : {std::string("lab/one"), std::string("one"), file})
    EXPECT_EQ(namer(name), Namer{.reach = Reach::global}) << name;
  const auto said = [&](const char* text) {
    std::ofstream(top_ / "catalogues/lab" / subscription_file) << text;
    return namer("lab/one")->reach;
  };
  EXPECT_EQ(said(R"({"url": "https://h.example/", "reach": "site"})"), Reach::site);
  EXPECT_EQ(said(R"({"url": "http://127.0.0.1/index.json"})"), Reach::host) << "an earlier SABATH did not note it";
  EXPECT_EQ(said(R"({"url": "file:///lab"})"), Reach::host);
  EXPECT_EQ(said("nothing that is JSON"), Reach::global);
  const Catalogue others({}, {top_}, {}, [](const fs::path&) { return std::optional<std::uint32_t>(7); });
  EXPECT_EQ(others.find("two", std::nullopt).fragments.front().urls.front().namer(),
            (Namer{.reach = Reach::host, .user = 7}));
}

TEST_F(Subscribed, OfTwoCataloguesNeitherIsMeant) {
  for (const char* lab : {"lab", "other"}) {
    subscribe(lab);
    put(std::string("catalogues/") + lab + "/datasets/one.json", "one");
  }
  EXPECT_EQ(file_of("lab/one"), "catalogues/lab/datasets/one.json as lab/one");
  try {
    static_cast<void>(catalogue().find("one", std::nullopt));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().hint, "say which: lab/one, other/one");
  }
}

TEST_F(Subscribed, ANameThatIsNotItsFilesIsLong) {  // it would not be seen to be taken
  subscribe("lab");
  put("catalogues/lab/datasets/two.json", "one");
  EXPECT_EQ(file_of("lab/two"), "catalogues/lab/datasets/two.json as lab/one");
  put("datasets/a.json", "one");
  EXPECT_EQ(file_of("one"), "datasets/a.json as one");
}

TEST_F(Subscribed, WithoutItsMarkADirectoryIsNone) {
  put("catalogues/lab/datasets/one.json", "one");
  EXPECT_EQ(file_of("one"), "");
  subscribe("lab");
  EXPECT_TRUE(is_subscribed(top_ / "catalogues/lab/datasets/one.json"));
  EXPECT_FALSE(is_subscribed(top_ / "datasets/one.json"));
  fs::remove(top_ / "catalogues/lab" / subscription_file);
  EXPECT_FALSE(is_subscribed(top_ / "catalogues/lab/datasets/one.json"));
}

TEST_F(Subscribed, AModelMeansTheDatasetsBesideIt) {
  subscribe("lab");
  put("catalogues/lab/datasets/one.json", "one");
  put("datasets/one.json", "one");
  fs::create_directories(top_ / "catalogues/lab/models");
  std::ofstream(top_ / "catalogues/lab/models/net.json")
      << R"({"schema": 1, "kind": "model", "name": "net", "run": {"one": [{"argv": ["true"]}]}})";
  const Catalogue all = catalogue();
  const Recipe model = all.find("net", AssetKind::model);
  EXPECT_EQ(all.dataset_of(model, model.run)->name, "lab/one");
}

TEST(Versions, NumbersAreNumbers) {
  const std::vector<std::string> order{"0.9",  "1", "1.0a",  "1.0",     "1.9",    "1.10",
                                       "2rc1", "2", "2.0.1", "2021-02", "2021-11"};
  for (std::size_t i = 1; i < order.size(); ++i) {
    EXPECT_FALSE(is_later_version(order[i - 1], order[i])) << order[i];
    EXPECT_TRUE(is_later_version(order[i], order[i - 1])) << order[i];
    EXPECT_FALSE(is_later_version(order[i], order[i]));
  }
}

TEST(IndexFile, ComesBack) {
  CatalogueIndexFile index;
  index.assets.push_back({"dataset", "x", "1", "", "urn:x", "MIT", "datasets/x.json", "datasets/x.jsonld"});
  index.files.push_back({RelativePath::parse("datasets/x.json"), 3, Sha256{}});
  index.tombstones.push_back({RelativePath::parse("removed/y@1.json"), 4, Sha256{}});
  const auto files = parse_index(text_of_index(index), "index.json");
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files.back().path.text(), "removed/y@1.json");
  EXPECT_EQ(files.front().path.text(), "datasets/x.json");
  EXPECT_EQ(files.front().size_bytes, 3U);
}

TEST(IndexFile, RefusesWhatLeavesItsFolders) {
  for (const char* path : {"../x", "/etc/passwd", "datasets/../../x", "bin/x", "datasetsx", "removed/x.json", ""}) {
    const std::string text = std::string(R"({"schema": 1, "catalogue": "sabath", "files": [{"path": ")") + path +
                             R"(", "size": 1, "sha256": ")" + std::string(64, '0') + "\"}]}";
    EXPECT_THROW(static_cast<void>(parse_index(text, "index.json")), Error) << path;
    const std::string stone = std::string(path) == "removed/x.json" ? "removed/a/x.json" : path;
    const std::string stones = std::string(R"({"schema": 1, "catalogue": "sabath", "tombstones": [{"path": ")") +
                               stone + R"(", "size": 1, "sha256": ")" + std::string(64, '0') + "\"}]}";
    EXPECT_THROW(static_cast<void>(parse_index(stones, "index.json")), Error) << stone;
  }
}

}  // namespace
}  // namespace sabath
