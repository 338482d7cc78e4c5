// What is decided of an asset before any source is asked: known_tree.h and fragment_choice.h.
#include <gtest/gtest.h>

#include "fetch/fragment_choice.h"
#include "fetch/hosts/source_key.h"
#include "fetch/known_tree.h"
#include "fetch_bench.h"
#include "support/temp_dir.h"

namespace sabath::test {
namespace {

class Decision : public testing::Test {
 protected:
  Decision() : store(Store::open(directory / "store", true)) {
    recipe.name = "asset";
    add(FragmentType::file, "one", "https://a.lab/one");
  }
  void add(FragmentType type, const std::string& id, const std::string& url) {
    Fragment fragment;
    fragment.id = id;
    fragment.type = type;
    if (type == FragmentType::file) fragment.path = RelativePath::parse(id);
    fragment.urls = {Url::parse(url)};
    recipe.fragments.push_back(std::move(fragment));
  }
  Manifest tree_with(const std::vector<std::string>& paths) {
    ManifestBuilder builder;
    for (const auto& path : paths) {
      const FileTree tree = tree_of("the bytes of " + path);
      builder.add_file(RelativePath::parse(path), tree.digest, tree.chunks);
    }
    return *store->manifest(store->put_manifest(builder));
  }
  static Ref ref_to(const Manifest& manifest) { return {manifest.root(), "first use", {"\"v1\"", ""}, 0, "", ""}; }
  [[nodiscard]] KnownTree known(const Manifest* pinned = nullptr, bool force = false) const {
    return know_tree(store.get(), recipe, request, force, pinned);
  }
  [[nodiscard]] FragmentChoice choice(const Manifest* expected = nullptr, bool force = false) const {
    return FragmentChoices(
               recipe, request,
               {.store = store.get(), .fetchers = nullptr, .rewrites = rewrites, .force = force, .expected = expected})
        .of(recipe.fragments.back());
  }

  TempDir directory;
  std::unique_ptr<Store> store;
  RewriteRules rewrites;
  Recipe recipe;
  AssetRequest request;
};

TEST_F(Decision, WhatWasLearntBindsUnlessItIsToBeLearntAnew) {
  EXPECT_EQ(known().manifest(), nullptr);
  const Manifest tree = tree_with({"one"});
  learn(*store, recipe, ref_to(tree));
  EXPECT_TRUE(known().binds && known().suffices);
  EXPECT_EQ(known().level, Reuse::source);
  EXPECT_FALSE(known(nullptr, true).binds);
  request.locals.push_back({"/a/copy", false});
  EXPECT_TRUE(known().binds && !known().suffices) << "the copy is looked at";
  request = {};
  request.refresh = true;
  EXPECT_FALSE(known().binds || known().suffices);
  EXPECT_NE(known().manifest(), nullptr) << "its sizes are still good for a plan";
}

TEST_F(Decision, APinBindsMoreThanWhatWasLearnt) {
  const Manifest tree = tree_with({"one"});
  recipe.manifest = ManifestPin{tree.root(), {}};
  EXPECT_EQ(known().manifest(), nullptr) << "it has to be asked for";
  request.refresh = true;
  EXPECT_TRUE(known(&tree).binds && known(&tree).suffices);
  EXPECT_TRUE(known(&tree, true).binds && !known(&tree, true).suffices);
  EXPECT_EQ(known(&tree).level, Reuse::content) << "others gave what is here of it";
  store->put_ref(pinned_key(recipe, tree.root()), ref_to(tree));
  EXPECT_EQ(known(&tree).level, Reuse::source);
}

TEST_F(Decision, APartIsChosenFromAKnownWholeUnlessItsOrderCounts) {
  const Manifest tree = tree_with({"one", "two"}), part = tree_with({"two"});
  learn(*store, recipe, ref_to(tree));
  request.selection.select = {"two"};
  EXPECT_TRUE(known().narrowed);
  store->put_ref(source_key(recipe, store->source_names(), request.selection), ref_to(part));
  EXPECT_FALSE(known().narrowed);
  EXPECT_EQ(known().manifest()->root(), part.root());
  request.selection = {};
  request.selection.sample = 1;
  EXPECT_EQ(known().manifest(), nullptr);
}

TEST_F(Decision, AFragmentComesByItsKind) {
  EXPECT_EQ(choice().way, FragmentWay::file);
  add(FragmentType::file_list, "list", "https://a.lab/l/list");
  EXPECT_EQ(choice().way, FragmentWay::list);
  add(FragmentType::archive, "tar", "https://a.lab/a.tar");
  EXPECT_EQ(choice().way, FragmentWay::archive);
  request.selection.select = {"some"};
  EXPECT_EQ(choice().way, FragmentWay::members);
}

TEST_F(Decision, AVersionIsAskedForOnlyInARefresh) {
  const Manifest tree = tree_with({"one"});
  store->put_ref(source_key(recipe.fragments[0], store->source_names()), ref_to(tree));
  EXPECT_TRUE(choice().tree && !choice().job.unless);
  EXPECT_FALSE(choice(nullptr, true).tree);
  request.refresh = true;
  FragmentChoice anew = choice();
  EXPECT_FALSE(anew.tree);
  ASSERT_TRUE(anew.job.unless && anew.before);
  anew.ask_for_content();
  EXPECT_FALSE(anew.job.unless || anew.before);
}

TEST_F(Decision, AnArchiveIsSparedWhereAllOfItIsExpected) {
  add(FragmentType::archive, "tar", "https://a.lab/a.tar");
  const Manifest of_tar = tree_with({"a/1", "a/2"}), all = tree_with({"a/1", "a/2", "one"}), less = tree_with({"a/1"});
  store->put_ref(source_key(recipe.fragments[1], store->source_names()), ref_to(of_tar));
  EXPECT_TRUE(choice(&all).tree);
  EXPECT_FALSE(choice(&less).tree);
  EXPECT_FALSE(choice(&all, true).tree);
}

}  // namespace
}  // namespace sabath::test
