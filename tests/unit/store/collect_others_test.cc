// Quarantine, bare clones and indexes: what no asset is made of is bounded, too.
#include "collect_fixture.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::seconds;

struct CollectOthers : CollectFixture {
  const fs::path clone = layout.git(sha256("clone"));

  void SetUp() override {
    CollectFixture::SetUp();
    const auto object = put("damaged").digest;
    tamper(store->object_path(object), 0);
    store->distrust(object);
    EXPECT_FALSE(store->present(object));
    fs::create_directories(clone / "objects/pack");
    write_file(clone / "HEAD", "ref: refs/heads/main\n");
    write_file(clone / "objects/pack/1.pack", std::string(100'000, 'p'));
    store->put_index(sha256("tar"), std::string(5000, 'i'));
    for (const auto& path :
         {clone / "HEAD", clone / "objects/pack/1.pack", clone / "objects/pack", clone / "objects", clone})
      age(path, 2);
    age(layout.index(sha256("tar")), 1);
  }
  [[nodiscard]] std::size_t others() const {
    return files_below(layout.quarantine()).size() + (fs::exists(clone) ? 1 : 0) + files_below(layout.indexes()).size();
  }
  static std::vector<std::string> kinds(const CollectReport& report) {
    std::vector<std::string> found;
    for (const auto& other : report.others) found.push_back(other.name.substr(0, other.name.find('/')));
    return found;
  }
};

TEST_F(CollectOthers, StayUntilTheyAreIdle) {
  EXPECT_TRUE(run().others.empty());
  policy.idle_max = hours(2) - seconds(5);
  policy.dry_run = true;
  EXPECT_EQ(kinds(run()), (std::vector<std::string>{"git"}));
  EXPECT_EQ(others(), 3U);
  policy.dry_run = false;
  const auto report = run();
  EXPECT_EQ(kinds(report), (std::vector<std::string>{"git"}));
  EXPECT_GE(report.other_bytes, 100'000U);
  EXPECT_FALSE(fs::exists(clone));
  EXPECT_GE(undo_collection(*store).others, 1U);
  EXPECT_EQ(read_file(clone / "objects/pack/1.pack").size(), 100'000U);
  policy.idle_max = seconds(0);
  policy.now = true;
  EXPECT_EQ(kinds(run()), (std::vector<std::string>{"git", "indexes", "quarantine"}));
  EXPECT_EQ(others(), 0U);
  EXPECT_TRUE(files_below(layout.trash()).empty());
}

TEST_F(CollectOthers, GoBeforeAssetsWhenThereIsNoRoom) {
  const auto root = add({std::string(200'000, 'a')}, 1);
  policy.size_max = 290'000;
  EXPECT_EQ(kinds(run()), (std::vector<std::string>{"git"}));
  EXPECT_TRUE(whole(root));
  policy.size_max = 150'000;
  const auto report = run();
  EXPECT_EQ(kinds(report), (std::vector<std::string>{"indexes", "quarantine"}));
  EXPECT_EQ(report.collected.size(), 1U);
  policy.size_max = 0;
  policy.grace = hours(1);  // also under pressure
  const auto fresh = put("fresh").digest;
  tamper(store->object_path(fresh), 0);
  store->distrust(fresh);
  EXPECT_FALSE(store->present(fresh));
  EXPECT_TRUE(run().others.empty());
}

TEST_F(CollectOthers, ClonesStayWhileSomebodyFetches) {
  policy.idle_max = seconds(0);
  {
    const Lease lease = store->lease({}, "fetch", {true});
    EXPECT_EQ(kinds(run()), (std::vector<std::string>{"quarantine"}));
  }
  EXPECT_EQ(kinds(run()), (std::vector<std::string>{"git", "indexes"}));
}

}  // namespace
}  // namespace sabath::test
