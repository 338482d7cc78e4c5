#include <sys/stat.h>

#include <algorithm>

#include "store/disk/layout.h"
#include "store/hints/evidence.h"
#include "store_fixture.h"

namespace sabath::test {
namespace {

struct Verify : StoreFixture {
  const std::string large = seeded_bytes(6, 0, 17 * chunk_size_bytes + 123);  // several tasks
  FileTree large_tree, small_tree;
  std::optional<Manifest> manifest;

  void SetUp() override {
    large_tree = put(large);
    small_tree = put("small");
    ManifestBuilder builder;
    builder.add_file(RelativePath::parse("large"), large_tree.digest, large_tree.chunks);
    builder.add_file(RelativePath::parse("small"), small_tree.digest, small_tree.chunks);
    builder.add_file(RelativePath::parse("small again"), small_tree.digest, small_tree.chunks);
    manifest = store->manifest(store->put_manifest(builder));
  }
};

TEST_F(Verify, ReadsEveryByte) {
  for (const unsigned threads : {1U, 3U}) {
    const Manifest* const everything = nullptr;
    for (const Manifest* of : {static_cast<const Manifest*>(&*manifest), everything}) {
      std::uint64_t seen = 0;
      const auto report = store->verify(of, threads, [&](std::uint64_t n) { seen += n; });
      EXPECT_EQ(report.bytes_read, large.size() + 5);
      EXPECT_EQ(seen, report.bytes_read);
      EXPECT_EQ(report.files, 2U);
      EXPECT_TRUE(report.bad.empty());
      EXPECT_EQ(report.missing, 0U);
    }
  }
}

TEST_F(Verify, NamesEachBadChunk) {
  tamper(store->object_path(large_tree.digest), 2 * chunk_size_bytes + 5);
  tamper(store->object_path(large_tree.digest), 17 * chunk_size_bytes);
  const auto report = store->verify(&*manifest, 2, {});
  ASSERT_EQ(report.bad.size(), 2U);
  EXPECT_EQ(report.bad[0].index, 2U);
  EXPECT_EQ(report.bad[0].offset, 2 * chunk_size_bytes);
  EXPECT_EQ(report.bad[0].path, "large");
  EXPECT_EQ(report.bad[1].index, 17U);
  EXPECT_EQ(files_below(directory / "quarantine").size(), 1U);
  const auto again = store->verify(&*manifest, 2, {});
  EXPECT_EQ(again.missing, 1U);
  EXPECT_EQ(again.missing_paths, std::vector<std::string>{"large"});
}

TEST_F(Verify, ListsEveryMissingPath) {
  std::filesystem::remove(store->object_path(small_tree.digest));
  const auto report = store->verify(&*manifest, 1, {});
  EXPECT_EQ(report.missing, 2U);
  EXPECT_EQ(report.missing_paths, (std::vector<std::string>{"small", "small again"}));
}

TEST_F(Verify, FindsWhatNoEvidenceWouldTell) {
  // As if the disk had rotted: the evidence is made to agree with the changed file.
  const auto object = store->object_path(small_tree.digest);
  tamper(object, 0);
  {
    const Owners owners;
    Evidence evidence(directory / "verified", WriterId::of_this_process(), owners);
    struct stat s {};
    ASSERT_EQ(::stat(object.c_str(), &s), 0);
    evidence.add(small_tree.digest, s);
  }
  reopen();
  ASSERT_TRUE(store->present(small_tree.digest));
  const auto report = store->verify(nullptr, 1, {});
  ASSERT_EQ(report.bad.size(), 1U);
  EXPECT_EQ(report.bad[0].file, small_tree.digest);
  EXPECT_FALSE(store->present(small_tree.digest));
}

TEST_F(Verify, TakesBadObjectsOutOfViews) {
  const auto view = store->make_view(*manifest);
  tamper(store->object_path(small_tree.digest), 0);
  const auto report = store->verify(&*manifest, 1, {});
  EXPECT_FALSE(std::filesystem::exists(view / "small"));
  EXPECT_FALSE(std::filesystem::exists(view / "small again"));
  EXPECT_TRUE(std::filesystem::exists(view / "large"));
  EXPECT_EQ(report.bad.size(), 3U);  // the object, and its two names in the view
  put("small");
  (void)store->make_view(*manifest);
  EXPECT_TRUE(store->view_present(*manifest));
}

TEST_F(Verify, ReadsCopiesInViewsToo) {
  ManifestBuilder builder;
  builder.add_file(RelativePath::parse("x"), small_tree.digest, small_tree.chunks, true);
  const auto executable = *store->manifest(store->put_manifest(builder));
  const auto view = store->make_view(executable);
  EXPECT_EQ(store->verify(&executable, 1, {}).bytes_read, 10U);
  tamper(view / "x", 0);
  const auto report = store->verify(&executable, 1, {});
  ASSERT_EQ(report.bad.size(), 1U);
  EXPECT_TRUE(store->present(small_tree.digest));
  EXPECT_FALSE(std::filesystem::exists(view / "x"));
}

TEST_F(Verify, ChecksManifestsRefsAndAliases) {
  const Sha256 key = large_tree.digest.hash;
  store->put_ref(key, {});
  store->put_alias("sha256", key.hex(), large_tree.digest);
  EXPECT_TRUE(store->verify(nullptr, 1, {}).bad.empty());
  const Layout layout(directory);
  tamper(layout.manifest(manifest->root()), 40);
  tamper(layout.ref(key), 3);
  tamper(layout.alias("sha256", key.hex()), 3);
  write_file(directory / "objects" / "stray", "x");
  std::filesystem::create_directories(directory / "objects" / "zz");
  write_file(directory / "objects" / "zz" / "stray", "x");
  const auto report = store->verify(nullptr, 1, {});
  EXPECT_EQ(report.bad.size(), 3U);
  EXPECT_EQ(report.strays.size(), 2U);
  EXPECT_FALSE(store->manifest(manifest->root()));
  EXPECT_FALSE(store->ref(key));
  EXPECT_EQ(files_below(directory / "quarantine").size(), 3U);
}

TEST_F(Verify, UsageCountsEachFileOnce) {
  const auto before = store->usage();
  EXPECT_EQ(before.objects, 2U);
  EXPECT_GE(before.object_bytes, large.size());
  EXPECT_LE(before.object_bytes, large.size() + 64 * 1024);
  EXPECT_EQ(before.manifests, 1U);
  (void)store->make_view(*manifest);
  const auto after = store->usage();
  EXPECT_EQ(after.object_bytes, before.object_bytes);
  EXPECT_EQ(after.views, 1U);
  EXPECT_LE(after.inodes, before.inodes + 3);  // views/, the view, tmp/
}

}  // namespace
}  // namespace sabath::test
