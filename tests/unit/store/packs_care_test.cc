// Packs verified, collected, merged and counted.
#include <algorithm>

#include "base/hash.h"
#include "packs_fixture.h"
#include "store/collect/collect.h"
#include "store/packs/pack_format.h"
#include "store/verify/verify.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;

struct PacksCare : PacksFixture {
  Manifest asset(const std::vector<Digest>& digests, const char* source) {
    ManifestBuilder builder;
    for (std::size_t i = 0; i < digests.size(); ++i)
      builder.add_file(RelativePath::parse("f" + std::to_string(i)), digests[i], {});
    const Sha256 root = store->put_manifest(builder);
    store->put_ref(sha256(source), {root, "checksum", {}, 0, std::string("https://example.org/") + source, ""});
    return *store->manifest(root);
  }
  static CollectPolicy policy() {
    CollectPolicy policy;
    policy.grace = policy.undo_window = std::chrono::seconds(0);
    policy.settle = std::chrono::milliseconds(0);
    return policy;
  }
  [[nodiscard]] std::size_t there(const std::vector<Digest>& digests) const {
    return static_cast<std::size_t>(std::ranges::count_if(digests, [&](const auto& d) { return store->present(d); }));
  }
};

TEST_F(PacksCare, VerifyReadsEveryByteAndNamesTheBadFile) {
  const auto digests = put_many();
  const auto manifest = asset(digests, "a");
  const std::uint64_t size = fs::file_size(packs()[0]);
  for (const bool quick : {false, true}) {
    VerifyOptions options;
    options.quick = quick;
    const auto report = verify(*store, &manifest, options);
    EXPECT_EQ(report.files, many);
    EXPECT_EQ(report.bytes_read, size);
    EXPECT_EQ(report.quick, quick ? many : 0U);
    EXPECT_TRUE(report.bad.empty());
    EXPECT_EQ(report.missing, 0U);
  }
  VerifyOptions lately;
  lately.within = std::chrono::hours(1);
  EXPECT_EQ(verify(*store, nullptr, lately).bytes_read, 0U);
  for (const bool quick : {true, false}) {
    for (const Manifest* of : {&manifest, static_cast<const Manifest*>(nullptr)}) {
      SCOPED_TRACE(quick);
      tamper(packs()[0], 2000);
      reopen();
      VerifyOptions options;
      options.quick = quick;
      const auto report = verify(*store, of, options);
      EXPECT_EQ(report.bytes_read, size);
      ASSERT_EQ(report.bad.size(), 1U);
      EXPECT_TRUE(report.bad[0].path.starts_with("f")) << report.bad[0].path;
      EXPECT_EQ(there(digests), many - 1);
      put_many();  // a small pack of one file beside
      for (const auto& pack : packs()) fs::remove(pack);
      reopen();
      put_many();
    }
  }
}

TEST_F(PacksCare, VerifyTellsOfADamagedIndex) {
  const auto digests = put_many();
  asset(digests, "a");
  tamper(packs()[0], fs::file_size(packs()[0]) - 40);
  const auto report = store->verify(nullptr, 1, {});
  ASSERT_FALSE(report.bad.empty());
  EXPECT_TRUE(report.bad[0].path.starts_with("packs/"));
  EXPECT_EQ(there(digests), many - 1) << "what other records say is right all the same";
  EXPECT_TRUE(store->verify(nullptr, 1, {}).bad.empty());
}

TEST_F(PacksCare, VerifyKeepsWhatADamagedIndexHasAWrongChecksumOf) {
  const auto digests = put_many();
  asset(digests, "a");
  tamper(packs()[0], fs::file_size(packs()[0]) - pack_footer_size - 24);  // of the last member
  EXPECT_EQ(store->verify(nullptr, 1, {}).bad.size(), 1U) << "the pack";
  for (const bool quick : {false, true}) {
    VerifyOptions options;
    options.quick = quick;
    EXPECT_TRUE(verify(*store, nullptr, options).bad.empty()) << quick;
  }
  EXPECT_EQ(there(digests), many);
}

TEST_F(PacksCare, CollectionRewritesWhatIsMostlyDead) {
  const auto first = put_many(1), second = put_many(100'000);
  ASSERT_EQ(packs().size(), 2U);
  std::vector<Digest> mixed(first.begin(), first.begin() + many / 2);
  mixed.insert(mixed.end(), second.begin(), second.end());
  asset(mixed, "kept");
  asset({first.begin() + many / 2, first.end()}, "goes");
  fs::remove_all(directory / "refs");
  fs::remove_all(directory / "manifests");
  const auto kept = asset(mixed, "kept");
  reopen();
  auto dry = policy();
  dry.dry_run = true;
  EXPECT_GT(collect(*store, dry).collected_objects, 400U);
  EXPECT_EQ(there(first), many);
  const auto report = collect(*store, policy());
  EXPECT_GT(report.collected_objects, 400U);
  EXPECT_EQ(packs().size(), 2U);
  EXPECT_EQ(there(mixed), mixed.size());
  EXPECT_TRUE(store->verify(&kept, 1, {}).bad.empty());
  EXPECT_EQ(store->verify(&kept, 1, {}).missing, 0U);
  reopen();
  EXPECT_EQ(undo_collection(*store).batches, 1U);
  EXPECT_EQ(there(first), many) << "the whole pack is back";
  EXPECT_EQ(packs().size(), 3U);
  EXPECT_EQ(there(mixed), mixed.size());
}

TEST_F(PacksCare, CollectionTakesAPackThatNobodyWants) {
  const auto digests = put_many();
  CollectPolicy careful = policy();
  careful.grace = std::chrono::hours(1);
  static_cast<void>(collect(*store, careful));
  EXPECT_EQ(there(digests), many) << "young";
  static_cast<void>(collect(*store, policy()));
  EXPECT_TRUE(packs().empty());
  reopen();
  EXPECT_EQ(there(digests), many) << "what is missed comes back";
  CollectPolicy now = policy();
  now.now = true;
  static_cast<void>(collect(*store, now));
  EXPECT_EQ(there(digests), 0U);
}

TEST_F(PacksCare, CollectionMergesSmallPacks) {
  std::vector<Digest> all;
  for (std::size_t pack = 0; pack < 10; ++pack) {
    const auto digests = put_many(pack * 10'000, 150);
    all.insert(all.end(), digests.begin(), digests.end());
  }
  ASSERT_EQ(packs().size(), 10U);
  const auto manifest = asset({all.begin() + 5, all.end()}, "a");
  static_cast<void>(collect(*store, policy()));
  EXPECT_EQ(packs().size(), 1U);
  reopen();
  EXPECT_EQ(store->verify(&manifest, 1, {}).missing, 0U);
  EXPECT_EQ(undo_collection(*store).batches, 1U);
  EXPECT_EQ(packs().size(), 11U);
  EXPECT_EQ(there(all), all.size());
  EXPECT_TRUE(store->verify(nullptr, 1, {}).bad.empty());
}

TEST_F(PacksCare, ALeaseKeepsItsMembers) {
  const auto digests = put_many();
  const auto manifest = asset(digests, "a");
  const Lease lease = store->lease({manifest.root()}, "a test");
  CollectPolicy all = policy();
  all.older_than = std::chrono::seconds(0);
  all.now = true;
  static_cast<void>(collect(*store, all));
  EXPECT_EQ(there(digests), many);
}

TEST_F(PacksCare, UsageCountsThem) {
  put_many();
  const auto usage = store->usage();
  EXPECT_EQ(usage.packs, 1U);
  EXPECT_EQ(usage.packed_files, many);
  EXPECT_GT(usage.pack_bytes, 0U);
  EXPECT_LT(usage.inodes, 20U);
}

}  // namespace
}  // namespace sabath::test
