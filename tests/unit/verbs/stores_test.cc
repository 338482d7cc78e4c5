// A store that is made, what it lacks, and where its assets stand.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "ask.h"
#include "sabath/verbs/init.h"
#include "sabath/verbs/path.h"
#include "sabath/verbs/view.h"
#include "sabath/verbs/want.h"
#include "site.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using Json = Site::Json;
using Tree = std::map<std::string, std::string>;

class Stores : public ::testing::Test {
 protected:
  Stores() {
    site.dataset("pair", {file_fragment("one", "one.bin", {site.serve("1", "first")}),
                          file_fragment("two", "d/two.bin", {site.serve("2", "second")})});
  }
  static std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  Site site;
  Session session = site.open();
  NoEvents unheard;
};

TEST_F(Stores, AreMadeBeforeAFetch) {
  const InitRecord record = init(session, {}, unheard);
  EXPECT_EQ(record.store, site.settings.store);
  EXPECT_TRUE(fs::is_directory(record.store));
  EXPECT_EQ(ask(session, "init", Json::object()), to_json(record)) << "a second time it is there";
}

TEST_F(Stores, AreMadeForAGroup) {
  const std::string group = std::to_string(::getgid());
  const std::string record = ask(session, "init", {{"shared", true}, {"group", group}});
  EXPECT_EQ(record, to_json(InitRecord{site.settings.store, true}));
  EXPECT_NE(fs::status(site.settings.store).permissions() & fs::perms::group_write, fs::perms::none);
  EXPECT_EQ(refusal(session, "init", {{"group", group}}).kind, FailureKind::usage);
  EXPECT_EQ(refusal(session, "init", {{"shared", true}, {"group", "no such group"}}).kind, FailureKind::usage);
}

TEST_F(Stores, SayWhatTheyLack) {
  const fs::path file = site / "pair.want";
  const WantRecord written = want(session, {{"pair"}, file}, unheard);
  EXPECT_EQ(written.assets, 1U);
  EXPECT_FALSE(written.missing) << "the manifest is not here";
  EXPECT_TRUE(written.list.empty());
  const WantRecord kept = want(session, {{"pair"}, {}}, unheard);
  EXPECT_EQ(kept.list, text_of(file));
  EXPECT_EQ(ask(session, "want", {{"names", {"pair"}}, {"output", file.string()}}), to_json(written));
  EXPECT_EQ(refusal(session, "want", {{"names", {"pair"}}}).kind, FailureKind::usage);
  EXPECT_EQ(refusal(session, "want", {{"names", {"pair"}}, {"output", "-"}}).kind, FailureKind::usage);
}

TEST_F(Stores, SayWhereAnAssetStands) {
  EXPECT_EQ(refusal(session, "path", {{"name", "pair"}}).kind, FailureKind::offline);
  const AssetRecord asset = site.fetch("pair").assets.front();
  EXPECT_EQ(find_path(session, {"pair", ""}, unheard).path, asset.path);
  const PathRecord part = find_path(session, {"pair", "two"}, unheard);
  EXPECT_EQ(text_of(part.path), "second");
  EXPECT_EQ(ask(session, "path", {{"name", "pair"}, {"fragment", "two"}}), to_json(part));
  EXPECT_EQ(refusal(session, "path", {{"name", "pair"}, {"fragment", "tow"}}).kind, FailureKind::not_found);
  EXPECT_EQ(refusal(session, "path", {{"nmae", "pair"}}).kind, FailureKind::usage);
}

TEST_F(Stores, WriteTreesOfTheirAssets) {
  EXPECT_EQ(refusal(session, "view", {{"name", "pair"}}).kind, FailureKind::offline);
  const AssetRecord asset = site.fetch("pair").assets.front();
  const ViewRecord inside = view(session, {"pair", {}, {}}, unheard);
  EXPECT_EQ(inside.path, asset.path);
  EXPECT_EQ(inside.manifest, asset.manifest);
  EXPECT_EQ(ask(session, "view", {{"name", asset.manifest}}),
            to_json(view(session, {asset.manifest, {}, {}}, unheard)));
  const ViewRecord copy = view(session, {"pair", site / "copy/", ViewFiles::copies}, unheard);
  EXPECT_EQ(copy.path, site / "copy");
  EXPECT_EQ(copy.bytes, 11U);
  EXPECT_EQ(tree_at(copy.path), (Tree{{"one.bin", "f:first"}, {"d", "d"}, {"d/two.bin", "f:second"}}));
  ASSERT_FALSE(ask(session, "view", {{"name", "pair"}, {"to", (site / "links").string()}, {"as", "symlink"}}).empty());
  EXPECT_TRUE(fs::is_symlink(site / "links/one.bin"));
  EXPECT_EQ(text_of(site / "links/one.bin"), "first");
  for (const Json& wrong :
       {Json{{"name", "pair"}, {"as", "link"}}, Json{{"name", "pair"}, {"to", "x"}, {"as", "tar"}}}) {
    EXPECT_EQ(refusal(session, "view", wrong).kind, FailureKind::usage) << wrong;
  }
}

}  // namespace
}  // namespace sabath::test
