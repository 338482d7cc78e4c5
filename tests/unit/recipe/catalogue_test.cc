#include "recipe/catalogue.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "recipe/parse.h"
#include "recipe_cases.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

std::string dataset(const std::string& name, const std::string& version = "1") {
  return R"({"schema":1,"kind":"dataset","name":")" + name + R"(","version":")" + version +
         R"(","fragments":[{"id":"main","type":"file","urls":["https://a.example/f"]}]})";
}

std::string model(const std::string& name) { return R"({"schema":1,"kind":"model","name":")" + name + "\"}"; }

class CatalogueTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const fs::path file = directory_ / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  Failure failure_of(const Catalogue& catalogue, const std::string& name, std::optional<AssetKind> kind = {}) {
    try {
      (void)catalogue.find(name, kind);
    } catch (const Error& error) {
      return error.failure();
    }
    ADD_FAILURE() << name << " was found";
    return {};
  }
  test::TempDir directory_;
};

TEST_F(CatalogueTest, FindsByNameAndByFileName) {
  write("r/datasets/file.json", dataset("name"));
  write("r/models/m/deep.json", model("Deep"));
  write("r/models/m/too/deep.json", model("never"));
  write("r/models/notes.txt", "not a recipe");
  write("r/models/.hidden.json", "not a recipe");
  const Catalogue catalogue({}, {directory_ / "r", directory_ / "absent"});
  EXPECT_EQ(catalogue.find("name", {}).name, "name");
  EXPECT_EQ(catalogue.find("file", {}).name, "name");
  EXPECT_EQ(catalogue.find("FILE", {}).name, "name") << "case is a second chance";
  EXPECT_EQ(catalogue.find("deep", {}).name, "Deep");
  EXPECT_EQ(failure_of(catalogue, "never").kind, FailureKind::not_found);
  EXPECT_EQ(failure_of(catalogue, "name", AssetKind::model).kind, FailureKind::not_found);
  EXPECT_EQ(catalogue.all({}).size(), 2u);
}

TEST_F(CatalogueTest, PrefersExactCaseToOrder) {
  write("a/datasets/one.json", dataset("One", "a"));
  write("b/datasets/one.json", dataset("one", "b"));
  const Catalogue catalogue({}, {directory_ / "a", directory_ / "b"});
  EXPECT_EQ(catalogue.find("One", {}).version, "a");
  EXPECT_EQ(catalogue.find("one", {}).version, "a") << "the file name is exact, too";
  EXPECT_EQ(catalogue.find("ONE", {}).version, "a");
  write("a/datasets/one.json", dataset("two", "a"));
  EXPECT_EQ(Catalogue({}, {directory_ / "b", directory_ / "a"}).find("one", {}).version, "b");
}

TEST_F(CatalogueTest, RegisteredNamesAreLastAndOfTrustedOwners) {
  write("r/datasets/one.json", dataset("one", "a"));
  write("s/datasets/one.json", dataset("one", "b"));
  write("s/datasets/two.json", dataset("two", "b"));
  const auto made_by = [&](std::uint32_t owner) {
    return Catalogue({}, {directory_ / "r"}, {{directory_ / "s", directory_ / "absent"}, {owner}});
  };
  EXPECT_EQ(made_by(::geteuid()).find("one", {}).version, "a");
  EXPECT_EQ(made_by(::geteuid()).find("two", {}).version, "b");
  EXPECT_EQ(failure_of(made_by(::geteuid() + 1), "two").kind, FailureKind::not_found);
  fs::create_symlink("two.json", directory_ / "s/datasets/three.json");
  EXPECT_EQ(failure_of(made_by(::geteuid()), "three").kind, FailureKind::not_found) << "a link is no file of its owner";
}

TEST_F(CatalogueTest, AnEmptyFileIsPassedOver) {
  write("r/datasets/one.json", "");
  write("s/datasets/one.json", dataset("one"));
  EXPECT_EQ(Catalogue({}, {directory_ / "r", directory_ / "s"}).find("one", {}).name, "one");
  const Failure failure = failure_of(Catalogue({}, {directory_ / "r"}), "one");
  EXPECT_EQ(failure.kind, FailureKind::invalid);
  EXPECT_TRUE(failure.message.ends_with("one.json is empty")) << failure.message;
  EXPECT_FALSE(Catalogue({}, {directory_ / "r"}).try_find("one", {}));
}

TEST_F(CatalogueTest, SearchesTheOriginalsLayoutFirst) {
  const std::string schema_0 =
      R"({"name":"one","fragments":[{"id":"main","type":"file","url":"https://a.example/f"}]})";
  write("root/var/sabath/assets/sabath/datasets/o/one.json", schema_0);
  write("root/var/sabath/assets/sabath/assets.json", "{}");
  write("r/datasets/one.json", dataset("one"));
  const Catalogue catalogue({directory_ / "root"}, {directory_ / "r"});
  EXPECT_EQ(catalogue.find("one", {}).schema, 0);
  ASSERT_EQ(catalogue.all({}).size(), 2u) << "it has another version, so it can still be asked for";
  EXPECT_EQ(catalogue.find("one@1", {}).schema, 1);
}

TEST_F(CatalogueTest, TellsVersionsApart) {
  write("r/datasets/one-1.json", dataset("one", "1"));
  write("r/datasets/one-2.json", dataset("one", "2"));
  const Catalogue catalogue({}, {directory_ / "r"});
  EXPECT_EQ(catalogue.find("one", {}).version, "1");
  EXPECT_EQ(catalogue.find("one@2", {}).version, "2");
  EXPECT_EQ(catalogue.find("ONE@2", {}).version, "2");
  const Failure failure = failure_of(catalogue, "one@3");
  EXPECT_EQ(failure.kind, FailureKind::not_found);
  EXPECT_NE(failure.hint.find("one@1"), std::string::npos) << failure.hint;
}

TEST_F(CatalogueTest, SuggestsNoEmptyVersion) {
  write("r/models/one.json", model("one"));
  const Catalogue catalogue({}, {directory_ / "r"});
  const Failure failure = failure_of(catalogue, "one@3");
  EXPECT_EQ(failure.kind, FailureKind::not_found);
  EXPECT_EQ(failure.hint.find("one@"), std::string::npos) << failure.hint;
}

TEST_F(CatalogueTest, SuggestsTheNearest) {
  write("r/models/cosmoflow.json", model("cosmoflow"));
  const Catalogue catalogue({}, {directory_ / "r"});
  const Failure failure = failure_of(catalogue, "cosmoflw");
  EXPECT_EQ(failure.message, "no recipe named \"cosmoflw\"");
  EXPECT_NE(failure.hint.find("did you mean \"cosmoflow\"?"), std::string::npos);
  EXPECT_NE(failure_of(Catalogue({}, {}), "x").hint.find("SABATH_RECIPES"), std::string::npos);
}

TEST_F(CatalogueTest, ReadsAPath) {
  write("mine.json", dataset("mine"));
  write("var/models/old.json", R"({"name":"old","run":{"a":["true"]}})");
  const Catalogue catalogue({}, {});
  EXPECT_EQ(catalogue.find(directory_ / "mine.json", {}).name, "mine");
  EXPECT_EQ(catalogue.find(directory_ / "var/models/old.json", {}).kind, AssetKind::model)
      << "its folder tells the kind";
  EXPECT_EQ(failure_of(catalogue, directory_ / "absent.json").kind, FailureKind::not_found);
  EXPECT_EQ(failure_of(catalogue, directory_ / "mine.json", AssetKind::model).kind, FailureKind::not_found);
  EXPECT_EQ(failure_of(catalogue, directory_.path()).kind, FailureKind::usage);
}

TEST_F(CatalogueTest, OneBadRecipeHidesNothingElse) {
  write("r/datasets/bad.json", "{\n\"schema\": 1,\n\"kind\": \"dataset\", \"nmae\": 1}");
  write("r/datasets/good.json", dataset("good"));
  write("r/datasets/model.json", model("misplaced"));
  const Catalogue catalogue({}, {directory_ / "r"});
  EXPECT_EQ(catalogue.find("good", {}).name, "good");
  EXPECT_EQ(failure_of(catalogue, "bad").kind, FailureKind::invalid);
  EXPECT_NE(failure_of(catalogue, "other").hint.find("bad.json:"), std::string::npos)
      << "the reader is told that one could not be read";
  const auto all = catalogue.all({});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_NE(all[0].problem, "");
  EXPECT_EQ(all[1].recipe->name, "good");
  EXPECT_NE(all[2].problem.find("lies among the datasets"), std::string::npos);
}

TEST_F(CatalogueTest, SurvivesHostileDirectories) {
  write("r/datasets/good.json", dataset("good"));
  fs::create_directory_symlink(directory_ / "r/datasets", directory_ / "r/datasets/loop");
  fs::create_symlink("self.json", directory_ / "r/datasets/self.json");
  ASSERT_EQ(mkfifo((directory_ / "r/datasets/pipe.json").c_str(), 0600), 0);
  write("r/datasets/huge.json", "");
  fs::resize_file(directory_ / "r/datasets/huge.json", 1ull << 30);
  const Catalogue catalogue({}, {directory_ / "r"});
  EXPECT_EQ(catalogue.find("good", {}).name, "good");
  EXPECT_EQ(failure_of(catalogue, "huge").kind, FailureKind::invalid);
  EXPECT_EQ(failure_of(catalogue, "pipe").kind, FailureKind::invalid);
  EXPECT_EQ(failure_of(catalogue, "self").kind, FailureKind::invalid);
}

TEST_F(CatalogueTest, ListsInOrder) {
  write("r/models/B.json", model("B"));
  write("r/models/a.json", model("a"));
  write("r/datasets/z.json", dataset("z"));
  write("s/models/a.json", model("A"));
  const Catalogue catalogue({}, {directory_ / "r", directory_ / "s"});
  std::vector<std::string> names;
  for (const auto& listed : catalogue.all({})) names.push_back(listed.recipe->name);
  EXPECT_EQ(names, (std::vector<std::string>{"z", "a", "B"})) << "s/models/a.json stands in the shadow";
}

}  // namespace
}  // namespace sabath
