// Staging what a collection takes away under its hands: it is in the trash for as long as the staging holds its lease.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "sabath/session.h"
#include "sabath/verbs/stage.h"
#include "site.h"
#include "store/disk/listing.h"
#include "store/state.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;

// Moves all of the store's content and names to the trash, as one asset is done with for the first time.
class CollectsEverything : public EventSink {
 public:
  explicit CollectsEverything(fs::path store) : store_(std::move(store)) {}
  void on(const Event& event) override {
    if (!std::holds_alternative<event::AssetFinished>(event) || collected > 0) return;
    const auto store = Store::open(store_, false);
    Trash& trash = store->state().trash;
    Batch batch = trash.begin();
    for (const auto& view : list_directory(store_ / "views")) trash.discard(batch, view);
    for (const char* kind : {"refs", "manifests", "objects"}) {
      for_each_file_below(store_ / kind,
                          [&](const fs::path& file) { collected += trash.discard(batch, file) ? 1 : 0; });
    }
    trash.end(batch);
  }
  std::size_t collected = 0;

 private:
  const fs::path store_;
};

TEST(SessionStage, GoesOnWhereWhatWasFetchedIsCollectedAtOnce) {
  Site site;
  const std::string large = seeded_bytes(1, 0, 9'000'000), small = seeded_bytes(2, 0, 1000);
  site.dataset("data", {file_fragment("l", "large", {site.serve("l", large)}),
                        file_fragment("s", "small", {site.serve("s", small)})});
  StageRequest request;
  request.names = {"data"};
  request.to = {site / "node"};
  request.threads = 2;
  CollectsEverything events(site.settings.store);
  Session session(site.settings);
  const StageRecord record = session.stage(request, events, {});
  ASSERT_EQ(record.exit, 0) << record.assets.front().failure->message;
  EXPECT_GE(events.collected, 4U) << "two files, a manifest, a ref";
  EXPECT_EQ(record.assets.front().bytes_from_origin, large.size() + small.size()) << "each byte came once";
  EXPECT_EQ(tree_at(site / "node/data/"),
            (std::map<std::string, std::string>{{"large", "f:" + large}, {"small", "f:" + small}}));
}

}  // namespace
}  // namespace sabath::test
