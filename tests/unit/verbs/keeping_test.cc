// The assets that stay in a store, and those that go: by name, collections, adopted data, staged data.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "ask.h"
#include "sabath/verbs/adopt.h"
#include "sabath/verbs/du.h"
#include "sabath/verbs/gc.h"
#include "sabath/verbs/keep.h"
#include "sabath/verbs/rm.h"
#include "sabath/verbs/unstage.h"
#include "site.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using Json = Site::Json;

// Two datasets in the store.
class Keeping : public ::testing::Test {
 protected:
  Site site;
  Session session = opened();
  NoEvents unheard;

 private:
  Session opened() {
    for (const char* name : {"clouds", "rain"}) {
      site.dataset(name, {file_fragment("f", "data", {site.serve(name, name)})});
      EXPECT_EQ(site.fetch(name).exit, 0);
    }
    return site.open();
  }
};

std::vector<std::string> names_of(const auto& assets) {
  std::vector<std::string> names;
  for (const auto& asset : assets) names.push_back(asset.name);
  std::ranges::sort(names);
  return names;
}

template <typename Call>
FailureKind kind_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.failure().kind;
  }
  ADD_FAILURE() << "nothing was thrown";
  return FailureKind::internal;
}

using Names = std::vector<std::string>;

TEST_F(Keeping, WhatIsKeptIsListedAndLetGo) {
  const KeepRecord made = keep(session, {{"clouds", "rain"}}, unheard);
  EXPECT_EQ(names_of(made.kept), (Names{"clouds", "rain"}));
  EXPECT_EQ(ask(session, "keep", {{"names", {"clouds", "rain"}}}), to_json(made));
  const KeepRecord all = keep(session, {}, unheard);
  ASSERT_EQ(all.kept.size(), 2U);
  EXPECT_TRUE(all.kept[0].time);
  EXPECT_EQ(ask(session, "keep", Json::object()), to_json(all));

  const UnkeepRecord gone = unkeep(session, {{"clouds"}}, unheard);
  ASSERT_EQ(gone.unkept.size(), 1U);
  EXPECT_EQ(gone.unkept[0].manifest, made.kept[0].manifest);
  EXPECT_EQ(names_of(keep(session, {}, unheard).kept), Names{"rain"});
  (void)keep(session, {{"clouds"}}, unheard);
  EXPECT_EQ(ask(session, "unkeep", {{"names", {"clouds"}}}), to_json(gone));
  EXPECT_EQ(kind_of([&] { (void)unkeep(session, {{"clouds"}}, unheard); }), FailureKind::not_found);
}

TEST_F(Keeping, ACollectionSaysFirstAndCanBeTakenBack) {
  (void)keep(session, {{"rain"}}, unheard);
  CollectionRequest request{.size_max = 0, .force_local = true, .dry_run = true};
  const CollectionRecord would = gc(session, request, unheard);
  EXPECT_EQ(names_of(would.collected), Names{"clouds"});
  EXPECT_EQ(names_of(would.kept), Names{"rain"});
  EXPECT_EQ(ask(session, "gc", {{"max_size", 0}, {"force_local", true}, {"dry_run", true}}), to_json(would));

  request.dry_run = false;
  EXPECT_EQ(gc(session, request, unheard).collected_bytes, would.collected_bytes);
  EXPECT_EQ(kind_of([&] { (void)session.path("clouds"); }), FailureKind::offline);
  const UndoRecord undone = undo_gc(session, {}, unheard);
  EXPECT_EQ(undone.assets, 1U);
  EXPECT_FALSE(session.path("clouds").empty());
  EXPECT_EQ(ask(session, "gc", {{"undo", true}}),
            R"({"schema":1,"batches":0,"objects":0,"assets":0,"others":0,"exit":0})");
}

TEST_F(Keeping, WhatIsRemovedIsFreed) {
  const std::uint64_t before = du(session, {}, unheard).object_bytes;
  const UsageRecord room = du(session, {{"clouds"}}, unheard);
  ASSERT_EQ(room.assets.size(), 1U);
  EXPECT_EQ(room.assets[0].files, 1U);
  const auto assets_of = [](const std::string& record) {
    return Json::parse(record).at("assets");
  };  // what is free changes
  EXPECT_EQ(assets_of(ask(session, "du", {{"names", {"clouds"}}})), assets_of(to_json(room)));
  const RemovalRecord gone = rm(session, {{"clouds"}, true}, unheard);
  ASSERT_EQ(gone.assets.size(), 1U);
  EXPECT_EQ(gone.assets[0].freed_bytes, room.assets[0].alone_bytes);
  EXPECT_EQ(before - du(session, {}, unheard).object_bytes, gone.assets[0].freed_bytes);
  EXPECT_EQ(kind_of([&] { (void)session.path("clouds"); }), FailureKind::offline);
  EXPECT_FALSE(session.path("rain").empty());
  EXPECT_EQ(kind_of([&] { (void)rm(session, {{"clouds"}}, unheard); }), FailureKind::offline);

  EXPECT_EQ(site.fetch("clouds").exit, 0);
  EXPECT_EQ(ask(session, "rm", {{"names", {"clouds"}}, {"now", true}}), to_json(gone));
  (void)keep(session, {{"rain"}}, unheard);
  EXPECT_EQ(refusal(session, "rm", {{"names", {"rain"}}}).kind, FailureKind::usage);
  EXPECT_EQ(refusal(session, "rm", Json::object()).kind, FailureKind::usage);
}

TEST_F(Keeping, AdoptedDataHasARecipeUntilOnePinsIt) {
  const fs::path data = site / "data";
  fs::create_directories(data);
  write_file(data / "a", "abc");
  write_file(data / "b", "de");
  const AdoptionRecord first = adopt(session, {data, "climate"}, unheard);
  EXPECT_EQ(first.files, 2U);
  EXPECT_EQ(first.bytes, 5U);
  EXPECT_EQ(ask(session, "adopt", {{"directory", data.string()}, {"name", "climate"}, {"threads", 2}}), to_json(first));
  write_file(site / "recipes/datasets/climate.json", first.recipe);
  const AdoptionRecord again = adopt(session, {data, "climate"}, unheard);
  EXPECT_EQ(again.manifest, first.manifest);
  EXPECT_EQ(again.recipe, "") << "its recipe is there";
  EXPECT_EQ(site.fetch("climate").exit, 0);
  EXPECT_EQ(tree_at(site.open().path("climate")).size(), 2U);

  write_file(data / "b", "other");
  EXPECT_EQ(kind_of([&] { (void)adopt(session, {data, "climate"}, unheard); }), FailureKind::content);
  site.stop.request_stop();
  EXPECT_EQ(kind_of([&] {
              (void)adopt(session, {data, ""}, unheard, site.stop.get_token());
            }),
            FailureKind::interrupted);
}

TEST_F(Keeping, WhatWasStagedGoesByNameOrAltogether) {
  const fs::path node = site / "node";
  const auto stage_both = [&] {
    StageRequest request;
    request.names = {"clouds", "rain"};
    request.to = {node};
    EXPECT_EQ(session.stage(request, unheard, {}).exit, 0);
  };
  stage_both();
  const UnstageRecord one = unstage(session, {{"clouds"}, {node}}, unheard);
  EXPECT_EQ(one.views, 1U);
  EXPECT_EQ(one.stores, 0U);
  EXPECT_FALSE(fs::exists(node / "clouds"));
  EXPECT_TRUE(fs::exists(node / "rain"));
  EXPECT_EQ(kind_of([&] { (void)unstage(session, {{"clouds"}, {node}}, unheard); }), FailureKind::not_found);
  stage_both();
  EXPECT_EQ(ask(session, "unstage", {{"names", {"clouds"}}, {"to", {node.string()}}}), to_json(one));

  fs::create_directory(node / "mine");
  EXPECT_EQ(kind_of([&] { (void)unstage(session, {{"rain", "mine"}, {node}}, unheard); }), FailureKind::usage);
  EXPECT_TRUE(fs::exists(node / "rain")) << "nothing goes where one is refused";
  const UnstageRecord all = unstage(session, {{}, {node}, true}, unheard);
  EXPECT_EQ(all.views, 1U);
  EXPECT_EQ(all.stores, 1U);
  EXPECT_FALSE(fs::exists(node / ".sabath"));
}

TEST_F(Keeping, RequestsThatMakeNoSenseAreRefused) {
  const std::string place = (site / "node").string();
  for (const auto& [verb, request] :
       std::vector<std::pair<const char*, Json>>{{"keep", {{"name", "clouds"}}},
                                                 {"unkeep", Json::object()},
                                                 {"gc", {{"low", 1}}},
                                                 {"gc", {{"low", 2}, {"max_size", 1}}},
                                                 {"gc", {{"dry_run", 1}}},
                                                 {"gc", {{"older_than", "30d"}}},
                                                 {"gc", {{"grace", 18446744073709551615ULL}}},
                                                 {"adopt", Json::object()},
                                                 {"adopt", {{"directory", place}, {"threads", 5000}}},
                                                 {"unstage", {{"names", {"clouds"}}}},
                                                 {"unstage", {{"to", {place}}}},
                                                 {"unstage", {{"to", {"auto"}}, {"all", true}}},
                                                 {"unstage", {{"to", {place}}, {"names", {"../x"}}}}}) {
    EXPECT_EQ(refusal(session, verb, request).kind, FailureKind::usage) << verb << " " << request;
  }
  SessionSettings elsewhere = site.settings;
  elsewhere.store = site / "nowhere";
  Session empty(elsewhere);
  EXPECT_EQ(refusal(empty, "keep", {{"names", {"clouds"}}}).kind, FailureKind::offline);
  EXPECT_EQ(refusal(empty, "gc", Json::object()).kind, FailureKind::offline);
  EXPECT_FALSE(fs::exists(elsewhere.store)) << "asking makes no store";
}

}  // namespace
}  // namespace sabath::test
