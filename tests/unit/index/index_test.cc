// The index of a catalogue says what the recipe files say now, also where its own file lies; and what a query finds.
#include "index/index.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/file.h"
#include "index/query.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class Index : public ::testing::Test {
 protected:
  void add(const std::string& name, const std::string& more = "", bool settled = true) {
    const fs::path file = recipes() / "datasets" / (name + ".json");
    make_directories(file.parent_path());
    std::ofstream(file) << R"({"schema":1,"kind":"dataset","name":")" << name << R"(","fragments":[{"id":"m",)"
                        << R"("type":"file","urls":["https://x.org/f.h5"],"size":1000}])" << (more.empty() ? "" : ",")
                        << more << "}";
    if (settled) settle(file);
  }
  // As if it had been written long ago; its ctime cannot be set, so the clock has to pass instead.
  static void settle(const fs::path& file) {
    const timespec times[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }
  // Until the files that were written before count as unchanged.
  void wait_until_settled() const {
    for (;;) {
      const CatalogueIndex index(catalogue(), home / "cache");
      if (CatalogueIndex(catalogue(), home / "cache").recipes_read() == 0) return;
      ::usleep(100'000);
    }
  }
  [[nodiscard]] fs::path recipes() const { return home / "recipes"; }
  [[nodiscard]] Catalogue catalogue() const { return Catalogue({}, {recipes()}); }
  [[nodiscard]] Names names() const {
    const Catalogue all = catalogue();
    const CatalogueIndex index(all, home / "cache");
    Names found;
    for (const auto& item : index.items()) found.emplace_back(item.entry.name);
    return found;
  }
  [[nodiscard]] std::size_t reads() const { return CatalogueIndex(catalogue(), home / "cache").recipes_read(); }
  [[nodiscard]] fs::path file() const {
    for (const auto& entry : fs::directory_iterator(home / "cache")) return entry.path();
    return {};
  }
  [[nodiscard]] Names find(const RecipeFilter& filter) const {
    const Catalogue all = catalogue();
    const CatalogueIndex index(all, home / "cache");
    const RecipeQuery query(filter);
    std::vector<std::pair<unsigned, std::string>> found;
    for (const auto& item : index.items()) {
      if (const unsigned fit = query.fit(item.entry)) found.emplace_back(fit, item.entry.name);
    }
    std::ranges::stable_sort(found, std::greater<>{}, [](const auto& one) { return one.first; });
    Names result;
    for (auto& [fit, name] : found) result.push_back(std::move(name));
    return result;
  }
  test::TempDir home;
};

TEST_F(Index, ReadsARecipeAgainOnlyWhereItChanged) {
  add("a");
  add("b");
  wait_until_settled();
  EXPECT_EQ(names(), (Names{"a", "b"}));
  EXPECT_EQ(reads(), 0u);
  add("b", R"("title":"other")");
  add("c");
  EXPECT_EQ(reads(), 2u);
  EXPECT_EQ(find({.patterns = {"other"}}), Names{"b"});
  fs::remove(recipes() / "datasets/a.json");
  EXPECT_EQ(names(), (Names{"b", "c"}));
}

TEST_F(Index, NoticesAChangeThatKeepsSizeAndTime) {
  add("a", R"("title":"one")");
  wait_until_settled();
  add("a", R"("title":"two")");  // of the same length, and dated back to the same time
  EXPECT_EQ(find({.patterns = {"two"}}), Names{"a"});
  EXPECT_TRUE(find({.patterns = {"one"}}).empty());
}

TEST_F(Index, OfARecipeThatWasJustWrittenIsNotKept) {
  add("a", R"("title":"one")", false);
  EXPECT_EQ(reads(), 1u);
  EXPECT_EQ(reads(), 1u) << "it may have changed within the same tick of the clock";
}

TEST_F(Index, IsReplacedWhereItIsDamaged) {
  add("a", R"("title":"one")");
  wait_until_settled();
  const fs::path kept = file();
  const std::string good = *try_read_text(kept, 1 << 20);
  for (std::size_t i = 0; i < good.size(); i += 7) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    std::ofstream(kept, std::ios::binary) << bad;
    ASSERT_EQ(find({.patterns = {"one"}}), Names{"a"}) << i;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, good.size() / 2, good.size() - 1}) {
    std::ofstream(kept, std::ios::binary) << good.substr(0, size);
    ASSERT_EQ(names(), Names{"a"}) << size;
  }
  EXPECT_EQ(*try_read_text(kept, 1 << 20), good);
  fs::remove(kept);
  fs::create_directory(kept);
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(Index, NeedsNoDirectoryAndNoRoom) {
  add("a");
  EXPECT_EQ(CatalogueIndex(catalogue(), {}).items().size(), 1u);
  std::ofstream(home / "cache") << "a file where the directory would be";
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(Index, LeavesOutWhatIsShadowedOrCannotBeRead) {
  add("a", R"("title":"first")");
  make_directories(recipes() / "datasets/z");
  std::ofstream(recipes() / "datasets/z/a.json")
      << R"({"schema":1,"kind":"dataset","name":"a","title":"second","fragments":[{"id":"m","type":"file","urls":["https://x.org/f"]}]})";
  std::ofstream(recipes() / "datasets/bad.json") << "{";
  EXPECT_EQ(names(), Names{"a"});
  EXPECT_TRUE(find({.patterns = {"second"}}).empty());
}

TEST_F(Index, FindsByWordsExpressionsAndKeys) {
  add("cosmoflow", R"("title":"Cosmology","licence":"BSD-3-Clause","doi":"10.1234/Abc","metadata":{"seed9":12109763},
"tags":{"task":"regression"},"keywords":["universe"],
"creators":[{"name":"Farrell, Steven","orcid":"0000-0002-1825-0097"}],"format":{"names":["HDF5"]})");
  add("climate", R"("title":"About cosmoflow","abstract":"Weather of regression","licence":"MIT")");
  add("cosmoflow-nano", R"("title":"small","metadata":{"task":"regression"})");
  EXPECT_EQ(find({.patterns = {"cosmoflow"}}), (Names{"cosmoflow", "cosmoflow-nano", "climate"})) << "by fit";
  EXPECT_EQ(find({.patterns = {"COSMO.*w$"}}).front(), "cosmoflow");
  EXPECT_EQ(find({.patterns = {"seed9=12109763"}}), Names{"cosmoflow"});
  EXPECT_EQ(find({.patterns = {"universe", "cosmology"}}), Names{"cosmoflow"});
  EXPECT_TRUE(find({.patterns = {"universe", "weather"}}).empty());
  EXPECT_EQ(find({.author = "farrell"}), Names{"cosmoflow"});
  EXPECT_EQ(find({.author = "Steven Farrell"}), Names{"cosmoflow"});
  EXPECT_EQ(find({.author = "0000-0002-1825-0097"}), Names{"cosmoflow"});
  EXPECT_EQ(find({.licence = "bsd-3-clause"}), Names{"cosmoflow"});
  EXPECT_TRUE(find({.licence = "BSD"}).empty());
  EXPECT_EQ(find({.doi = "https://doi.org/10.1234/ABC"}), Names{"cosmoflow"});
  EXPECT_EQ(find({.tags = {"task=regression"}}), (Names{"cosmoflow-nano", "cosmoflow"}));
  EXPECT_EQ(find({.tags = {"seed9"}}), Names{"cosmoflow"});
  EXPECT_EQ(find({.format = "hdf5"}).size(), 3u);
  EXPECT_TRUE(find({.size_min = 1001}).empty());
  EXPECT_EQ(find({.size_min = 1000}).size(), 3u);
  EXPECT_TRUE(find({.kind = AssetKind::model}).empty());
  EXPECT_TRUE(find({.access = AccessKind::login}).empty());
  EXPECT_THROW(RecipeQuery({.patterns = {"("}}), Error);
}

TEST_F(Index, FindsShapesWithOpenAxes) {
  const auto of = [](const char* shape) {
    return fmt::format(R"("format":{{"variables":[{{"name":"full","shape":{}}}]}})", shape);
  };
  add("fixed", of("[512,512,4]"));
  add("open", of("[null,512,4]"));
  add("flat", of("[512]"));
  for (const char* shape :
       {"512,512,4", "(512, 512, 4)", "512x512x4", "[512,512,04,]", "?,512,4", "512,-1,4", "*,None,4"})
    EXPECT_EQ(find({.shape = shape}), (Names{"fixed", "open"})) << shape;
  EXPECT_EQ(find({.shape = "7,512,4"}), Names{"open"});
  EXPECT_EQ(find({.shape = "(?,)"}), Names{"flat"});
  for (const char* shape : {"512,512", "?,512,5", "?,?,?,?", "()"})
    EXPECT_TRUE(find({.shape = shape}).empty()) << shape;
  for (const char* shape : {"a", "1,,2", "1,2,,", "1.5", "-2", "(1,2", "1 2", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"})
    EXPECT_THROW(RecipeQuery({.shape = shape}), Error) << shape;
}

TEST(IndexEntry, OfAnyBytesIsNoneOrStaysInside) {
  std::string bytes(200, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string text = bytes;
    text[i] = '\xff';
    std::string_view rest = text;
    if (const auto entry = decode_entry(rest)) {
      EXPECT_LE(entry->file.size() + entry->text.size() + rest.size(), text.size());
    }
  }
}

}  // namespace
}  // namespace sabath
