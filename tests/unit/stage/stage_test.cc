// Staging with threads as ranks: real stores in directories that stand for nodes' disks.
#include "stage/stage.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

#include "base/file.h"
#include "comm/solo_comm.h"
#include "manifest/manifest.h"
#include "sabath/error.h"
#include "stage/node/piece_reader.h"
#include "store/disk/layout.h"
#include "store/space/reservation.h"
#include "store/state.h"
#include "support/seeded.h"
#include "support/temp_dir.h"
#include "support/thread_comm.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t mib = 1 << 20;

class StageTest : public testing::Test {
 protected:
  StageTest() : shared_(Store::open(dir_ / "shared", true)) {
    add("big", 9 * mib + 17, 1);
    add("a/exact", chunk_size_bytes, 2);
    add("a/empty", 0, 3);
    for (unsigned i = 0; i < 30; ++i) add("small/" + std::to_string(i), i * 30'000, 10 + i);
    add("twin", 9 * mib + 17, 1);
    bytes_ = builder_.bytes();
    root_ = Manifest::parse(bytes_).root();
    request_.to = {(dir_ / "node{node}").string()};
    request_.threads = 2;
  }

  void add(const std::string& path, std::uint64_t size, std::uint64_t seed) {
    const fs::path file = dir_ / "source" / path;
    make_directories(file.parent_path());
    write_seeded_file(file, seed, size);
    const FileTree tree = shared_->adopt(file, false, {});
    builder_.add_file(RelativePath::parse(path), tree.digest, tree.chunks);
    files_[path] = tree.digest;
  }

  // `count` small files more, in a pack of the shared store; the manifest has them, too.
  void pack_many(std::size_t count) {
    std::vector<std::unique_ptr<ObjectWriter>> group;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string path = "many/" + std::to_string(i % 10) + "/" + std::to_string(i);
      auto writer = shared_->write_object(count);
      const std::string bytes = seeded_bytes(1000 + count - i, 0, 100 + i % 50);  // not in the manifest's order
      writer->write(std::as_bytes(std::span(bytes)));
      const FileTree tree = writer->finish();
      if (files_.emplace(path, tree.digest).second) builder_.add_file(RelativePath::parse(path), tree.digest, {});
      group.push_back(std::move(writer));
    }
    shared_->publish(std::move(group), count);
    bytes_ = builder_.bytes();
    root_ = Manifest::parse(bytes_).root();
  }

  // By `ranks` ranks, `on_node` of which share a node. Rank 0's answer; all must agree on the failure.
  Staged stage(unsigned ranks, unsigned on_node = 1) {
    Staged answer;
    std::mutex mutex;
    std::vector<std::string> failures;
    ThreadRanks(ranks, on_node).run([&](Comm& comm) {
      StageJob job;
      job.name = "asset";
      if (comm.rank() == 0) {
        job.manifest = Manifest::parse(bytes_);
        job.bytes = bytes_;
      }
      const auto store = Store::open(dir_ / "shared", false);
      job.shared = sees_(comm.rank()) ? store.get() : nullptr;
      NoEvents events;
      Staged mine = stage_asset(comm, std::move(job), request_, events, stop_.get_token());
      const std::lock_guard lock(mutex);
      failures.push_back(mine.failure ? mine.failure->message : "");
      if (comm.rank() == 0) answer = std::move(mine);
    });
    for (const auto& failure : failures) EXPECT_EQ(failure, failures.front());
    return answer;
  }

  [[nodiscard]] fs::path node(unsigned number) const { return dir_ / ("node" + std::to_string(number)); }
  void expect_whole(unsigned number) const {
    for (const auto& [path, digest] : files_) {
      const fs::path file = node(number) / "asset" / path;
      ASSERT_TRUE(fs::exists(file)) << file;
      const Fd fd = open_file(file, O_RDONLY);
      EXPECT_EQ(hash_file(fd.get(), fs::file_size(file)).digest, digest) << file;
    }
  }
  [[nodiscard]] std::uint64_t distinct() const {
    std::uint64_t bytes = 0;
    for (const auto& [path, digest] : files_) bytes += path == "twin" ? 0 : digest.size_bytes;
    return bytes;
  }
  void corrupt(const std::string& path, std::uint64_t offset) const {
    const fs::path object = shared_->object_path(files_.at(path));
    fs::permissions(object, fs::perms::owner_all);
    std::fstream file(object, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put('!');
  }

  TempDir dir_;
  std::unique_ptr<Store> shared_;
  ManifestBuilder builder_;
  std::map<std::string, Digest> files_;
  std::string bytes_;
  Sha256 root_;
  StageRequest request_;
  std::stop_source stop_;
  std::function<bool(unsigned)> sees_ = [](unsigned) { return true; };
};

// A node whose room is promised to another job.
struct FullNode {
  explicit FullNode(const fs::path& node) : store(Store::open(node / ".sabath", true)) {
    others.grow(std::uint64_t{1} << 60U, 0, [](const Promised&, const Promised&) { return std::nullopt; });
  }
  std::unique_ptr<Store> store;
  Reservation others{*store, "another job"};
};

TEST_F(StageTest, OneReadReachesEveryNode) {
  for (const auto& [ranks, on_node] : {std::pair{1U, 1U}, {2U, 1U}, {3U, 1U}, {7U, 1U}, {6U, 3U}}) {
    const unsigned nodes = ranks / on_node;
    const Staged staged = stage(ranks, on_node);
    ASSERT_FALSE(staged.failure) << staged.failure->message;
    EXPECT_EQ(staged.asset.bytes_from_shared, distinct());
    EXPECT_EQ(staged.asset.bytes_from_peers, distinct() * (nodes - 1));
    EXPECT_EQ(staged.asset.bytes_sent, staged.asset.bytes_from_peers);
    EXPECT_EQ(staged.asset.nodes, nodes);
    for (unsigned n = 0; n < nodes; ++n) {
      expect_whole(n);
      fs::remove_all(node(n));
    }
  }
}

TEST_F(StageTest, AgainMovesNothingAndALostNodeIsFedByTheOthers) {
  ASSERT_FALSE(stage(4).failure);
  Staged again = stage(4);
  EXPECT_EQ(again.asset.bytes_from_shared + again.asset.bytes_from_peers, 0U);
  EXPECT_EQ(again.asset.bytes_present, 4 * distinct());
  for (const unsigned lost : {0U, 2U}) {
    fs::remove_all(node(lost));
    again = stage(4);
    EXPECT_EQ(again.asset.bytes_from_shared, 0U);
    EXPECT_EQ(again.asset.bytes_from_peers, distinct());
    expect_whole(lost);
  }
  fs::remove_all(shared_->object_path(files_["big"]));  // what nodes have is not asked of the shared store
  fs::remove_all(node(1));
  ASSERT_FALSE(stage(4).failure);
  expect_whole(1);
}

TEST_F(StageTest, NodesThatDoNotSeeTheStoreAreFed) {
  sees_ = [](unsigned rank) { return rank == 0 || rank == 3; };
  const Staged staged = stage(5);
  ASSERT_FALSE(staged.failure);
  EXPECT_EQ(staged.asset.readers, 1U) << "few pieces";
  for (unsigned n = 0; n < 5; ++n) expect_whole(n);
}

TEST_F(StageTest, PackedFilesAreLaidOutAgainWithoutANodeThatLeaves) {
  pack_many(2 * pack_files_min);
  for (const auto mode : {StageMode::replicate, StageMode::shard}) {
    const FullNode full(node(2));
    request_.mode = mode;
    request_.allow_partial = 1;
    const Staged staged = stage(4);
    ASSERT_TRUE(staged.failure);
    ASSERT_EQ(staged.asset.failed_nodes.size(), 1U);
    EXPECT_EQ(staged.asset.failed_nodes[0].node, 2U);
    EXPECT_EQ(staged.asset.bytes_from_shared, distinct());
    for (const unsigned n : {0U, 1U, 3U}) {
      if (mode == StageMode::replicate) expect_whole(n);
      fs::remove_all(node(n));
    }
  }
}

TEST_F(StageTest, PacksAreNotOpenedForWhatNodesHave) {
  pack_many(pack_files_min);
  ASSERT_FALSE(stage(3).failure);
  const Fd watch(::inotify_init1(IN_NONBLOCK));
  ASSERT_GE(::inotify_add_watch(watch.get(), (dir_ / "shared/packs").c_str(), IN_OPEN), 0);
  const auto opened = [&] {
    std::array<char, 4096> events{};
    return ::read(watch.get(), events.data(), events.size()) > 0;
  };
  ASSERT_FALSE(stage(3).failure);
  EXPECT_FALSE(opened());
  fs::remove_all(node(1));
  ASSERT_FALSE(stage(3).failure);
  EXPECT_FALSE(opened());
  for (unsigned n = 0; n < 3; ++n) {
    expect_whole(n);
    fs::remove_all(node(n));
  }
  ASSERT_FALSE(stage(3).failure);
  EXPECT_TRUE(opened());
}

TEST_F(StageTest, PacksAreExpandedOnTheNodesOnly) {
  pack_many(pack_files_min);
  for (const auto mode : {StageMode::replicate, StageMode::shard}) {
    request_.mode = mode;
    const Staged staged = stage(2);
    ASSERT_FALSE(staged.failure) << staged.failure->message;
    EXPECT_EQ(staged.asset.bytes_from_shared, distinct());
    for (unsigned n = 0; n < 2; ++n) {
      if (mode == StageMode::replicate) expect_whole(n);
      EXPECT_FALSE(fs::exists(node(n) / ".sabath/packs"));
      fs::remove_all(node(n));
    }
  }
}

TEST_F(StageTest, AFileThatItsPackDoesNotHoldIsNamed) {
  pack_many(pack_files_min);
  const fs::path pack = fs::directory_iterator(dir_ / "shared/packs")->path();
  fs::permissions(pack, fs::perms::owner_all);
  {
    std::fstream file(pack, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4321);
    file.write("!!!!", 4);
  }
  const Staged staged = stage(2);
  ASSERT_TRUE(staged.failure);
  EXPECT_EQ(staged.failure->kind, FailureKind::content);
  EXPECT_NE(staged.failure->message.find("many/"), std::string::npos) << staged.failure->message;
  static_cast<void>(shared_->verify(nullptr, 1, {}));
  pack_many(pack_files_min);
  ASSERT_FALSE(stage(2).failure);
  expect_whole(1);
}

TEST_F(StageTest, ShardsAreReadOnceAndHaveTheirPartOnly) {
  request_.mode = StageMode::shard;
  const Staged staged = stage(4);
  ASSERT_FALSE(staged.failure);
  EXPECT_EQ(staged.asset.bytes_from_shared, distinct());
  // Bytes of different contents, of all nodes: "twin" stands on another one than "big".
  const auto held = [&] {
    std::uint64_t bytes = 0;
    for (unsigned n = 0; n < 4; ++n) {
      std::map<std::string, std::uint64_t> contents;
      for (const auto& [path, digest] : files_) {
        if (fs::exists(node(n) / "asset" / path)) contents[digest.hash.hex()] = digest.size_bytes;
      }
      for (const auto& content : contents) bytes += content.second;
    }
    return bytes;
  };
  const std::uint64_t once = held();
  EXPECT_EQ(staged.asset.bytes_from_peers, once - distinct());
  std::map<std::string, unsigned> seen;
  for (unsigned n = 0; n < 4; ++n) {
    for (const auto& entry : fs::recursive_directory_iterator(node(n) / "asset/")) {
      if (entry.is_regular_file()) ++seen[entry.path().lexically_relative(node(n) / "asset/").string()];
    }
    EXPECT_TRUE(fs::exists(node(n) / "asset.plan.json"));
  }
  EXPECT_EQ(seen.size(), files_.size());
  request_.overlap = 2;  // who has a file already gives it
  const Staged more = stage(4);
  ASSERT_FALSE(more.failure);
  EXPECT_EQ(more.asset.bytes_from_shared, 0U);
  EXPECT_EQ(held() - once, distinct());
  EXPECT_EQ(more.asset.bytes_from_peers, distinct()) << "who has content by its other path does not get it once more";
}

TEST_F(StageTest, AWrongByteInTheSharedStoreIsFoundAndNothingIsShown) {
  corrupt("big", 5 * mib);
  const Staged staged = stage(3);
  ASSERT_TRUE(staged.failure);
  EXPECT_EQ(staged.failure->kind, FailureKind::content) << staged.failure->message;
  EXPECT_NE(staged.failure->message.find("big"), std::string::npos);
  EXPECT_EQ(staged.asset.failed_nodes.size(), 1U) << "the node that read it is named";
  for (unsigned n = 0; n < 3; ++n) EXPECT_FALSE(fs::exists(fs::symlink_status(node(n) / "asset")));
  // What arrived stays: when the store is right again, only that chunk moves.
  const fs::path object = shared_->object_path(files_["big"]);
  fs::remove(object);
  fs::copy_file(dir_ / "source/big", object);
  const Staged again = stage(3);
  ASSERT_FALSE(again.failure) << again.failure->message;
  EXPECT_EQ(again.asset.bytes_from_shared, chunk_size_bytes);
  EXPECT_EQ(again.asset.bytes_from_peers, 2 * chunk_size_bytes);
  for (unsigned n = 0; n < 3; ++n) expect_whole(n);
}

TEST_F(StageTest, WhatACollectionHasForAMomentIsCalledBack) {
  pack_many(pack_files_min);
  Trash& trash = shared_->state().trash;
  Batch batch = trash.begin();
  for (const char* path : {"big", "a/exact", "small/7"}) trash.discard(batch, shared_->object_path(files_.at(path)));
  for (const auto& pack : fs::directory_iterator(dir_ / "shared/packs")) trash.discard(batch, pack.path());
  ASSERT_FALSE(stage(3).failure);
  for (unsigned n = 0; n < 3; ++n) expect_whole(n);
}

TEST_F(StageTest, WhatTheSharedStoreLacksIsSaid) {
  fs::remove_all(shared_->object_path(files_["small/7"]));
  const Staged staged = stage(2);
  ASSERT_TRUE(staged.failure);
  EXPECT_TRUE(staged.shared_lacks);
  EXPECT_EQ(staged.failure->kind, FailureKind::offline);
}

TEST_F(StageTest, ANodeThatCannotIsNamedAndTheOthersMayGoOn) {
  write_file(dir_ / "node2", "not a directory");
  const Staged staged = stage(4);
  ASSERT_TRUE(staged.failure);
  EXPECT_EQ(staged.failure->kind, FailureKind::nodes);
  ASSERT_EQ(staged.asset.failed_nodes.size(), 1U);
  EXPECT_EQ(staged.asset.failed_nodes[0].node, 2U);
  EXPECT_EQ(staged.asset.bytes_from_shared, 0U) << "agreed before the first byte";
  request_.allow_partial = 1;
  const Staged partly = stage(4);
  ASSERT_TRUE(partly.failure);
  EXPECT_EQ(partly.failure->kind, FailureKind::nodes);
  for (const unsigned n : {0U, 1U, 3U}) expect_whole(n);
}

// Room is looked for when it is known what was dealt to whom: it is dealt again to those who are left.
TEST_F(StageTest, WhatWasDealtToANodeThatLeavesIsDealtAgain) {
  const FullNode full(node(2));
  request_.mode = StageMode::shard;
  request_.per_rank = true;
  request_.allow_partial = 1;
  const Staged staged = stage(8, 2);
  ASSERT_TRUE(staged.failure);
  ASSERT_EQ(staged.asset.failed_nodes.size(), 1U) << staged.failure->message;
  EXPECT_EQ(staged.asset.failed_nodes[0].failure.kind, FailureKind::space);
  EXPECT_EQ(staged.asset.bytes_from_shared, distinct());
  std::set<std::string> seen;
  for (const unsigned n : {0U, 1U, 3U}) {
    for (const auto& entry : fs::recursive_directory_iterator(node(n) / "asset/")) {
      if (entry.is_regular_file()) seen.insert(entry.path().lexically_relative(node(n) / "asset/").string());
    }
  }
  EXPECT_EQ(seen.size(), files_.size());
}

TEST_F(StageTest, OneDirectoryOfAllIsFilledOnce) {
  request_.to = {(dir_ / "node0").string()};
  const Staged staged = stage(3);
  ASSERT_FALSE(staged.failure);
  EXPECT_EQ(staged.asset.bytes_from_shared, distinct());
  EXPECT_EQ(staged.asset.bytes_from_peers, 0U);
  expect_whole(0);
}

TEST_F(StageTest, AStopIsHeardByAllAndWhatArrivedStays) {
  stop_.request_stop();
  const Staged staged = stage(3);
  ASSERT_TRUE(staged.failure);
  EXPECT_EQ(staged.failure->kind, FailureKind::interrupted);
  stop_ = {};
  ASSERT_FALSE(stage(3).failure);
}

TEST_F(StageTest, SomethingElseInTheWayOfTheViewIsNotReplaced) {
  make_directories(node(0));
  write_file(node(0) / "asset", "precious");
  const Staged staged = stage(1);
  ASSERT_TRUE(staged.failure);
  EXPECT_EQ(fs::file_size(node(0) / "asset"), 8U);
}

TEST_F(StageTest, AloneWithoutOtherRanks) {
  const auto solo = make_solo_comm();
  StageJob job{"asset", Manifest::parse(bytes_), bytes_, shared_.get(), {}, {}, {}};
  NoEvents events;
  const Staged staged = stage_asset(*solo, std::move(job), request_, events, {});
  ASSERT_FALSE(staged.failure);
  expect_whole(0);
}

}  // namespace
}  // namespace sabath::test
