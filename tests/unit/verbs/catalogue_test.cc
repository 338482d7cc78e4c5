#include "sabath/verbs/cite.h"
#include "sabath/verbs/info.h"
#include "sabath/verbs/list.h"
#include "sabath/verbs/search.h"
#include "sabath/verbs/where.h"

#include <gtest/gtest.h>

#include <fstream>

#include "ask.h"
#include "site.h"

namespace sabath::test {
namespace {

using Json = Site::Json;

// Two datasets and a model; the first dataset is in the store.
class Catalogues : public ::testing::Test {
 protected:
  Catalogues() {
    site.dataset("clouds", {with_checksum(file_fragment("f", "a.bin", {site.serve("a", "abc")}), "abc")},
                 {{"title", "Clouds over x.y"}, {"citation", {"@a{\n  b}"}}, {"metadata", {{"shape", "3"}}}});
    site.dataset("rain", {file_fragment("f", "b.bin", {site.serve("b", "b")})},
                 {{"access", {{"kind", "login"}, {"steps", {"ask"}}}}});
    site.model("net", {{"fragments", {file_fragment("f", "c.bin", {site.serve("c", "c")})}}});
    EXPECT_EQ(site.fetch("clouds").exit, 0);
  }
  static std::vector<std::string> names(const ListRecord& record) {
    std::vector<std::string> names;
    for (const AssetSummary& asset : record.assets) names.push_back(asset.name);
    return names;
  }
  Site site;
  Session session = site.open();
  NoEvents unheard;
};

using Names = std::vector<std::string>;

TEST_F(Catalogues, ListsWhatIsAskedFor) {
  const ListRecord all = list(session, {}, unheard);
  EXPECT_EQ(names(all), (Names{"clouds", "rain", "net"}));
  EXPECT_TRUE(all.assets[0].present);
  EXPECT_EQ(all.assets[0].size_bytes, 3U);
  EXPECT_EQ(all.assets[1].access, AccessKind::login);
  EXPECT_EQ(names(list(session, {AssetKind::dataset, {}, false}, unheard)), (Names{"clouds", "rain"}));
  EXPECT_EQ(names(list(session, {{}, AccessKind::login, false}, unheard)), Names{"rain"});
  EXPECT_EQ(names(list(session, {{}, {}, true}, unheard)), Names{"clouds"});
  EXPECT_EQ(ask(session, "list", Json::object()), to_json(all));
  EXPECT_EQ(ask(session, "list", {{"kind", "dataset"}, {"access", "public"}, {"stored", true}}),
            to_json(list(session, {AssetKind::dataset, AccessKind::open, true}, unheard)));
}

TEST_F(Catalogues, AnUnreadableRecipeIsAProblem) {
  const auto file = session.settings().recipe_directories.front() / "datasets/torn.json";
  std::ofstream(file) << "{";
  const ListRecord record = list(session, {}, unheard);
  ASSERT_EQ(record.problems.size(), 1U);
  EXPECT_EQ(record.problems[0].file, file.string());
  EXPECT_EQ(record.assets.size(), 3U);
  EXPECT_EQ(ask(session, "list", Json::object()), to_json(record));
}

TEST_F(Catalogues, SearchesWithoutRegardToCase) {
  const ListRecord record = search(session, {"CLOUDS.*x\\.y", {}}, unheard);
  EXPECT_EQ(names(record), Names{"clouds"});
  EXPECT_EQ(ask(session, "search", {{"pattern", "CLOUDS.*x\\.y"}}), to_json(record));
  EXPECT_EQ(search(session, {"shape", AssetKind::model}, unheard).exit, exit_code(FailureKind::not_found));
  EXPECT_EQ(refusal(session, "search", {{"pattern", "("}}).kind, FailureKind::usage);
}

TEST_F(Catalogues, TellsAllOfAnAsset) {
  const InfoRecord record = info(session, {{"clouds", "net"}, {}}, unheard);
  ASSERT_EQ(record.assets.size(), 2U);
  EXPECT_EQ(record.assets[0].recipe.title, "Clouds over x.y");
  EXPECT_TRUE(record.assets[0].manifest.starts_with("sha256:"));
  EXPECT_TRUE(std::filesystem::is_directory(record.assets[0].path));
  EXPECT_TRUE(record.assets[1].path.empty());
  EXPECT_EQ(ask(session, "info", {{"names", {"clouds", "net"}}}), to_json(record));
  EXPECT_EQ(refusal(session, "info", {{"names", {"fog"}}}).kind, FailureKind::not_found);
}

TEST_F(Catalogues, SaysHowToCite) {
  const CiteRecord record = cite(session, {{"clouds"}}, unheard);
  ASSERT_EQ(record.assets.size(), 1U);
  EXPECT_EQ(record.assets[0].citations, Names{"@a{\n  b}"});
  EXPECT_EQ(ask(session, "cite", {{"names", {"clouds"}}}), to_json(record));
  EXPECT_EQ(refusal(session, "cite", {{"names", {"rain"}}}).kind, FailureKind::not_found);
}

TEST_F(Catalogues, SaysWhereAnAssetStands) {
  const WhereRecord record = where(session, {"clouds"}, unheard);
  EXPECT_TRUE(record.made && record.has_manifest && !record.packed);
  EXPECT_EQ(record.path, session.path("clouds"));
  EXPECT_EQ(ask(session, "where", {{"name", "clouds"}}), to_json(record));
  EXPECT_EQ(where(session, {"rain"}, unheard).exit, exit_code(FailureKind::offline));
}

TEST_F(Catalogues, RefusesWhatIsNoRequest) {
  for (const auto& [verb, request] : std::vector<std::pair<const char*, Json>>{{"list", {{"kinds", "dataset"}}},
                                                                               {"list", {{"kind", "tree"}}},
                                                                               {"list", {{"access", "free"}}},
                                                                               {"list", {{"stored", "yes"}}},
                                                                               {"search", Json::object()},
                                                                               {"info", Json::object()},
                                                                               {"info", {{"names", Json::array()}}},
                                                                               {"cite", {{"names", "clouds"}}},
                                                                               {"where", {{"name", ""}}}}) {
    EXPECT_EQ(refusal(session, verb, request).kind, FailureKind::usage) << verb << " " << request;
  }
}

}  // namespace
}  // namespace sabath::test
