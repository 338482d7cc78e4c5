#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "collect_fixture.h"
#include "store/hints/evidence.h"
#include "store/leases/lease_file.h"
#include "store/pins.h"
#include "store/state.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::seconds;

using Collect = CollectFixture;

const std::string kib(char c) { return std::string(1024, c); }

TEST_F(Collect, TakesNothingThatIsNamed) {
  const auto root = add({"one", "two"}, 1000);
  const auto report = run();
  EXPECT_TRUE(report.collected.empty());
  EXPECT_EQ(report.collected_objects, 0U);
  EXPECT_TRUE(whole(root));
  EXPECT_TRUE(trashed().empty());
}

TEST_F(Collect, TakesWhatNothingNames) {
  const auto root = add({"one"}, 0);
  const auto loose = put("loose").digest;
  policy.grace = hours(1);
  EXPECT_EQ(run().unnamed_objects, 0U) << "an interrupted fetch will want it";
  policy.grace = seconds(0);
  policy.dry_run = true;
  EXPECT_EQ(run().unnamed_bytes, 5U);
  EXPECT_TRUE(fs::exists(layout.object(loose)));
  policy.dry_run = false;
  EXPECT_EQ(run().collected_objects, 1U);
  EXPECT_FALSE(fs::exists(layout.object(loose)));
  EXPECT_TRUE(whole(root));
}

TEST_F(Collect, TakesTheLeastRecentlyUsedFirst) {
  const auto old = add({kib('a'), kib('s')}, 30), middle = add({kib('b'), kib('s')}, 20), young = add({kib('c')}, 10);
  policy.size_max = 3 * 1024;
  policy.dry_run = true;
  auto report = run();
  ASSERT_EQ(report.collected.size(), 1U);
  EXPECT_EQ(report.collected[0].root, old);
  EXPECT_EQ(report.collected[0].bytes, 2048U);
  EXPECT_EQ(report.collected[0].freed_bytes, 1024U) << "the other half is shared";
  EXPECT_EQ(report.object_bytes, 4 * 1024U);
  EXPECT_TRUE(whole(old) && trashed().empty()) << "a dry run changes nothing";
  policy.dry_run = false;
  policy.size_low = 1024;
  report = run();
  ASSERT_EQ(report.collected.size(), 2U);
  EXPECT_EQ(report.collected[1].root, middle);
  EXPECT_EQ(report.collected[1].freed_bytes, 2048U);
  EXPECT_FALSE(whole(old) || whole(middle));
  EXPECT_FALSE(fs::exists(store->view_path(old)));
  EXPECT_TRUE(whole(young));
  policy.size_max = policy.size_low = 1024;
  EXPECT_TRUE(run().collected.empty());
}

TEST_F(Collect, TakesByAge) {
  const auto old = add({"a"}, 30), young = add({"b"}, 10);
  policy.older_than = hours(20);
  const auto report = run();
  ASSERT_EQ(report.collected.size(), 1U);
  EXPECT_EQ(report.collected[0].root, old);
  EXPECT_TRUE(whole(young));
}

TEST_F(Collect, AFragmentGoesWithTheAssetThatHoldsIt) {
  const auto asset = add({"a", "b"}, 1);
  ManifestBuilder builder;  // what a fetch learns of one of its fragments; no later fetch looks at it
  builder.add_file(RelativePath::parse("a"), tree_of("a").digest, tree_of("a").chunks);
  const auto part = store->put_manifest(builder);
  store->put_ref(sha256("part"), {part, "checksum", {}, 0, "https://a.example/a", ""});
  age(layout.ref(sha256("part")), 100);
  age(layout.manifest(part), 100);
  policy.older_than = hours(50);
  EXPECT_TRUE(run().collected.empty());
  policy.older_than = seconds(0);
  EXPECT_EQ(run().collected.size(), 2U);
  EXPECT_FALSE(store->ref(sha256("part")));
  EXPECT_FALSE(whole(asset));
}

TEST_F(Collect, KeepsWhatIsPinnedAndWhatIsInUse) {
  const auto pinned = add({"a"}, 100), used = add({"b"}, 100), other = add({"c"}, 100);
  put_pin(*store, {pinned, "a", 0});
  const auto lease = store->lease({used}, "a run");
  policy.older_than = seconds(0);
  const auto report = run();
  ASSERT_EQ(report.collected.size(), 1U);
  EXPECT_EQ(report.collected[0].root, other);
  ASSERT_EQ(report.kept.size(), 2U);
  for (const auto& kept : report.kept) {
    EXPECT_NE(kept.why.find(kept.root == pinned ? "kept" : "a run"), std::string::npos) << kept.why;
  }
  EXPECT_TRUE(whole(pinned) && whole(used));
  remove_pins(*store, [&](const Pin& pin) { return pin.root == pinned; });
  EXPECT_EQ(run().collected.size(), 1U);
}

TEST_F(Collect, NeverTheLastCopyOfWhatNoSourceCanRestore) {
  const std::vector<std::pair<std::string, std::string>> sources{{"file:///home/u/data", "first use"},
                                                                 {"https://a.example/x", "local copy"},
                                                                 {"", "checksum"},
                                                                 {"/data/x", "checksum"}};
  std::vector<Sha256> local;
  for (const auto& [source, trust] : sources) local.push_back(add({source + trust}, 100, source, trust));
  // The same content, known by a source as well: that one can restore it.
  const auto twice = add({"both"}, 100, "file:///x", "first use");
  store->put_ref(sha256("elsewhere"), {twice, "checksum", {}, 0, "https://b.example/x", ""});
  policy.older_than = seconds(0);
  auto report = run();
  ASSERT_EQ(report.collected.size(), 1U);
  EXPECT_EQ(report.collected[0].root, twice);
  EXPECT_EQ(report.kept.size(), sources.size());
  for (const auto& root : local) EXPECT_TRUE(whole(root));
  policy.force_local = true;
  EXPECT_EQ(run().collected.size(), sources.size());
}

TEST_F(Collect, WhatIsMissedComesBackFromTheTrash) {
  const auto tree = put("missed");
  EXPECT_EQ(run().collected_objects, 1U);
  ASSERT_FALSE(fs::exists(layout.object(tree.digest)));
  EXPECT_TRUE(store->present(tree.digest));
  EXPECT_EQ(trashed().size(), 1U);  // the batch's state
  EXPECT_EQ(object(tree.digest), "missed");
}

TEST_F(Collect, UndoTakesEverythingBackAsItWas) {
  const auto root = add({"a", kib('b')}, 100);
  const auto loose = put("loose").digest;
  const auto before = files_below(directory);
  policy.older_than = seconds(0);
  EXPECT_EQ(run().collected_objects, 3U);
  EXPECT_FALSE(whole(root));
  reopen();
  const auto report = undo_collection(*store);
  EXPECT_EQ(report.objects, 3U);
  EXPECT_EQ(report.assets, 1U);
  EXPECT_TRUE(whole(root));
  EXPECT_TRUE(store->present(loose));
  EXPECT_EQ(files_below(directory), before);
  EXPECT_EQ(undo_collection(*store).batches, 0U);
  EXPECT_TRUE(store->verify(nullptr, 1, {}).bad.empty());
}

TEST_F(Collect, EvidenceSurvivesTheWayThereAndBack) {
  const auto root = add({"shared", "alone"}, 100), stays = add({"shared"}, 0);
  policy.older_than = hours(50);
  EXPECT_EQ(run().collected.size(), 1U);
  policy.now = true;
  EXPECT_EQ(run().deleted_batches, 1U);
  reopen();
  Evidence evidence(layout.verified(), WriterId::of_this_process(), owners);
  struct stat s {};
  ASSERT_EQ(::stat(layout.object(tree_of("shared").digest).c_str(), &s), 0);
  EXPECT_TRUE(evidence.matches(tree_of("shared").digest, s)) << "a link of it was removed, and it is not read again";
  EXPECT_TRUE(whole(stays));
  EXPECT_FALSE(whole(root));
}

TEST_F(Collect, TheTrashIsEmptiedAfterTheWindow) {
  put("loose");
  EXPECT_EQ(run().deleted_batches, 0U);
  EXPECT_EQ(run().deleted_batches, 0U);
  EXPECT_FALSE(trashed().empty());
  policy.undo_window = seconds(0);
  const auto report = run();
  EXPECT_EQ(report.deleted_batches, 1U);
  EXPECT_GT(report.deleted_bytes, 0U);
  EXPECT_TRUE(trashed().empty());
  put("loose again");
  policy.now = true;
  EXPECT_EQ(run().deleted_batches, 1U) << "in the same call";
}

TEST_F(Collect, WhatAnOpenLeaseMayHaveSeenIsNotDeleted) {
  put("loose");
  auto lease = store->lease({}, "fetch x", {true});
  // An open lease also protects what was placed since it began, so this is aged by collecting with another's eyes.
  policy.now = true;
  const auto placed_before = put("placed while it fetches").digest;
  auto report = run();
  EXPECT_TRUE(fs::exists(layout.object(placed_before)));
  lease = Lease();
  report = run();
  EXPECT_EQ(report.waiting.size(), 0U);
  EXPECT_FALSE(fs::exists(layout.object(placed_before)));
}

TEST_F(Collect, ABatchWaitsForTheLeasesThatWereThere) {
  const auto loose = put("loose").digest;
  run();
  ASSERT_FALSE(fs::exists(layout.object(loose)));
  // As if it had begun before the batch was made.
  auto writer = WriterId::of_this_process();
  writer.nonce = 3;
  fs::create_directories(layout.leases());
  write_file(layout.leases() / (writer.text() + "+0"), encode_lease({"fetch x", "", true, 1, {}}));
  policy.undo_window = seconds(0);
  auto report = run();
  EXPECT_EQ(report.deleted_batches, 0U);
  ASSERT_EQ(report.waiting.size(), 1U);
  EXPECT_NE(report.waiting[0].find("fetch x"), std::string::npos);
  EXPECT_TRUE(store->present(loose)) << "it still comes back";
  fs::remove_all(layout.leases());
  EXPECT_EQ(run().deleted_batches, 1U);
}

TEST_F(Collect, WhatGotInUseMeanwhileGoesBack) {
  const auto root = add({"a", "b"}, 100);
  policy.older_than = seconds(0);
  policy.settle = std::chrono::milliseconds(0);
  run();
  ASSERT_FALSE(fs::exists(layout.view(root)));
  const auto lease = store->lease({root}, "a run that saw it a moment ago");
  policy.older_than.reset();
  policy.undo_window = seconds(0);
  const auto report = run();
  EXPECT_EQ(report.restored, 5U);  // the manifest, two objects, the ref, the view
  EXPECT_TRUE(whole(root));
}

// Two collections at once: one finds it in use and takes it back, while the other deletes it.
TEST_F(Collect, ANameComesBackWithAllThatItPromisesOrNotAtAll) {
  for (const bool undo : {false, true}) {
    const auto root = add({"a", "b"}, 100);
    policy.older_than = seconds(0);
    run();
    const auto batch = *fs::directory_iterator(directory / "trash");
    fs::remove(batch.path() / layout.object(tree_of("b").digest).lexically_relative(directory));
    reopen();
    const auto lease = store->lease({root}, "a run that saw it a moment ago");
    policy.older_than.reset();
    policy.undo_window = seconds(0);
    if (undo) (void)undo_collection(*store);
    EXPECT_EQ(undo ? 0U : run().restored, undo ? 0U : 2U) << "the manifest and an object";
    EXPECT_FALSE(fs::exists(layout.view(root)));
    const auto report = store->verify(nullptr, 1, {});
    EXPECT_TRUE(report.missing_paths.empty()) << report.missing_paths.front();
    EXPECT_TRUE(report.bad.empty());
  }
}

TEST_F(Collect, GoesOnWhereItWasKilled) {
  const auto root = add({"a"}, 100);
  // A collection that was killed when it had moved the view.
  auto dead = WriterId::of_this_process();
  dead.start_time += 1;
  const auto batch = layout.trash() / (dead.text() + "+0");
  fs::create_directories(batch / "views");
  write_file(batch / "filling", "");
  fs::rename(layout.view(root), batch / "views" / root.hex());
  policy.older_than = seconds(0);
  policy.undo_window = seconds(0);
  auto report = run();
  EXPECT_EQ(report.deleted_batches, 0U) << "its window begins when it is found";
  EXPECT_EQ(report.collected.size(), 1U);
  EXPECT_EQ(run().deleted_batches, 2U);
  EXPECT_TRUE(files_below(directory / "trash").empty());
}

TEST_F(Collect, NowIsAlsoWhatAKilledCollectionLeft) {
  const auto root = add({"a"}, 100);
  auto dead = WriterId::of_this_process();
  dead.start_time += 1;
  const auto batch = layout.trash() / (dead.text() + "+0");
  fs::create_directories(batch / "views");
  write_file(batch / "filling", "");
  fs::rename(layout.view(root), batch / "views" / root.hex());
  policy.now = true;
  EXPECT_EQ(run().deleted_batches, 1U) << "though nothing else was collected";
  EXPECT_TRUE(files_below(directory / "trash").empty());
}

TEST_F(Collect, StalePartialsGoAndLivingOnesStay) {
  const std::string bytes = seeded_bytes(1, 0, 2 * chunk_size_bytes);
  const auto tree = tree_of(bytes);
  const auto living = store->open_partial(tree.digest, tree.chunks);
  living->write_chunk(0, 0, bytes_of(bytes).first(chunk_size_bytes), tree.chunks[0]);
  auto dead = WriterId::of_this_process();
  dead.start_time += 1;
  const auto stale = layout.partial(sha256("stale")) / (dead.text() + "+0");
  fs::create_directories(stale);
  write_file(stale / "data", kib('x'));
  fs::create_directories(layout.temporaries() / dead.text());
  write_file(layout.temporaries() / dead.text() / "0", "x");
  policy.partial_grace = hours(1);
  EXPECT_EQ(run().partials, 0U);
  policy.partial_grace = seconds(0);
  policy.dry_run = true;
  EXPECT_EQ(run().partials, 1U);
  policy.dry_run = false;
  const auto report = run();
  EXPECT_EQ(report.partials, 1U);
  EXPECT_GE(report.partial_bytes, 1024U);
  EXPECT_FALSE(fs::exists(layout.partial(sha256("stale"))));
  EXPECT_FALSE(fs::exists(layout.temporaries() / dead.text()));
  living->write_chunk(0, 1, bytes_of(bytes).subspan(chunk_size_bytes), tree.chunks[1]);
  EXPECT_EQ(living->publish().digest, tree.digest);
}

TEST_F(Collect, ADamagedManifestHidesWhatItNames) {
  const auto root = add({"a"}, 0);
  const auto loose = put("loose").digest;
  tamper(layout.manifest(root), 40);
  const auto report = run();
  EXPECT_EQ(report.collected_objects, 0U);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_TRUE(store->present(loose) && store->present(tree_of("a").digest));
}

TEST_F(Collect, AnAdoptedFileIsNotTouched) {
  write_file(temp / "mine", "mine");
  const auto tree = store->adopt(temp / "mine", true, {});
  EXPECT_EQ(run().collected_bytes, 0U);
  EXPECT_FALSE(store->object_path(tree.digest).empty());
  policy.now = true;
  run();
  EXPECT_EQ(read_file(temp / "mine"), "mine");
}

TEST_F(Collect, StopsWhenAsked) {
  put("x");
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(kind_of([&] { (void)collect(*store, policy, source.get_token()); }), FailureKind::interrupted);
}

}  // namespace
}  // namespace sabath::test
