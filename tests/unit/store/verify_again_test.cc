// Quick looks, looks that go on, and what becomes of what is damaged.
#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>

#include "base/file.h"
#include "base/hash.h"
#include "store/disk/layout.h"
#include "store/hints/checked.h"
#include "store/partials/journal.h"
#include "store/pins.h"
#include "store/state.h"
#include "store/verify/verify.h"
#include "store_fixture.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;

struct VerifyAgain : StoreFixture {
  const Layout layout{directory};
  const std::string large = seeded_bytes(6, 0, 5 * chunk_size_bytes + 123);
  FileTree large_tree, small_tree;
  std::optional<Manifest> manifest;
  std::uint64_t total = large.size() + 5;

  void SetUp() override {
    large_tree = put(large);
    small_tree = put("small");
    ManifestBuilder builder;
    builder.add_file(RelativePath::parse("large"), large_tree.digest, large_tree.chunks);
    builder.add_file(RelativePath::parse("small"), small_tree.digest, small_tree.chunks);
    manifest = store->manifest(store->put_manifest(builder));
  }
  VerifyReport run(VerifyOptions options = {}) {
    options.threads = 2;
    return verify(*store, nullptr, options);
  }
  static VerifyOptions quick() {
    VerifyOptions options;
    options.quick = true;
    return options;
  }
  static VerifyOptions within(int seconds) {
    VerifyOptions options;
    options.within = std::chrono::seconds(seconds);
    return options;
  }
};

TEST_F(VerifyAgain, AQuickLookReadsEverythingToo) {
  auto report = run(quick());
  EXPECT_EQ(report.quick, 0U) << "there is nothing to compare with yet";
  EXPECT_EQ(report.bytes_read, total);
  report = run(quick());
  EXPECT_EQ(report.quick, 2U);
  EXPECT_EQ(report.files, 2U);
  EXPECT_EQ(report.bytes_read, total);
}

TEST_F(VerifyAgain, AQuickLookSeesOneBit) {
  run();
  tamper(layout.object(large_tree.digest), 3 * chunk_size_bytes + 7);
  const auto report = run(quick());
  ASSERT_EQ(report.bad.size(), 1U);
  EXPECT_EQ(report.bad[0].index, 3U);
  EXPECT_EQ(report.quick, 1U);
  EXPECT_EQ(report.bytes_read, total + large.size()) << "SHA-256 decides what XXH3 doubts";
}

TEST_F(VerifyAgain, ALieOfTheLogIsNotBelieved) {
  run();
  Checked(layout.checked(), WriterId::of_this_process(), owners).add({small_tree.digest, 1, 2, 3, 4});
  struct stat s {};
  ASSERT_EQ(::stat(layout.object(small_tree.digest).c_str(), &s), 0);
  {
    Checked lie(layout.checked(), WriterId::of_this_process(), owners);
    const std::int64_t mtime = std::int64_t{s.st_mtim.tv_sec} * 1'000'000'000 + s.st_mtim.tv_nsec;
    lie.add({small_tree.digest, s.st_ino, mtime, 12345, INT64_MAX / 2});
  }
  const auto report = run(quick());
  EXPECT_TRUE(report.bad.empty());
  EXPECT_EQ(report.quick, 1U);
  EXPECT_EQ(report.files, 2U);
}

TEST_F(VerifyAgain, GoesOnAfterAnInterruption) {
  struct Stop {};
  VerifyOptions options = within(3600);
  std::uint64_t seen = 0;
  options.threads = 1;
  options.on_bytes = [&](std::uint64_t n) {
    seen += n;
    if (seen == total) throw Stop{};  // while the second of the two is read
  };
  EXPECT_THROW((void)verify(*store, nullptr, options), Stop);
  auto report = run(within(3600));
  EXPECT_EQ(report.remembered, 1U);
  EXPECT_EQ(report.files, 1U);
  EXPECT_LT(report.bytes_read, total);
  report = run(within(3600));
  EXPECT_EQ(report.remembered, 2U);
  EXPECT_EQ(report.files + report.bytes_read, 0U);
  EXPECT_EQ(run(within(0)).bytes_read, total);
  EXPECT_EQ(run().bytes_read, total) << "unless it is asked for, nothing is taken for read";
}

TEST_F(VerifyAgain, WhatChangedIsReadHoweverLatelyItWas) {
  run();
  tamper(layout.object(small_tree.digest), 0);
  const auto report = run(within(3600));
  EXPECT_EQ(report.remembered, 1U);
  EXPECT_EQ(report.bad.size(), 1U);
}

TEST_F(VerifyAgain, GoodChunksOfABadObjectAreKept) {
  tamper(layout.object(large_tree.digest), 2 * chunk_size_bytes);
  VerifyOptions options;
  options.salvage = true;
  EXPECT_EQ(run(options).bad.size(), 1U);
  ASSERT_FALSE(store->present(large_tree.digest));
  reopen();
  const auto partial = store->open_partial(large_tree.digest, large_tree.chunks);
  EXPECT_EQ(partial->chunks_done(), (std::vector<bool>{true, true, false, true, true, true}));
  partial->write_chunk(0, 2, bytes_of(large).subspan(2 * chunk_size_bytes, chunk_size_bytes), large_tree.chunks[2]);
  partial->publish();
  EXPECT_EQ(object(large_tree.digest), large);
}

TEST_F(VerifyAgain, WhatIsTooLongIsMendedFromItself) {
  const auto file = layout.object(large_tree.digest);
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  ASSERT_EQ(::truncate(file.c_str(), static_cast<off_t>(large.size() + 1)), 0);
  VerifyOptions options;
  options.salvage = true;
  EXPECT_EQ(run(options).bad.size(), 1U);
  EXPECT_TRUE(store->present(large_tree.digest));
  EXPECT_TRUE(run().bad.empty());
}

TEST_F(VerifyAgain, ADamagedPinKeeps) {
  put_pin(*store, {manifest->root(), "large and small", 1});
  tamper(layout.pin(manifest->root(), "large and small"), 20);
  EXPECT_EQ(run().bad.size(), 1U);
  EXPECT_TRUE(run().bad.empty());
  ASSERT_EQ(read_pins(*store).size(), 1U);
  EXPECT_EQ(read_pins(*store)[0].root, manifest->root());
}

// The only writers of these logs are dead: another process.
struct DamagedLogs : VerifyAgain {
  std::string name_of_a_dead_writer() {
    auto writer = WriterId::of_this_process();
    writer.start_time += 1;
    return writer.text();
  }
};

// Two that fold the same logs at once both write all of them. Where the next ones kept both, logs of files that are
// gone doubled with each such meeting, until a verify did nothing but read them.
TEST_F(DamagedLogs, WhatSeveralLogsSayIsFoldedIntoOneRecord) {
  const int logs = 6;
  std::string records;
  for (std::uint64_t inode = 1; inode <= 3; ++inode) put_check(records, {small_tree.digest, inode, 2, 3, 4});
  fs::create_directories(layout.checked());
  auto writer = WriterId::of_this_process();
  ++writer.start_time;  // another process had this pid
  for (int i = 0; i < logs; ++i) {
    ++writer.nonce;
    write_file(layout.checked() / (writer.text() + ".log"), records);
  }
  const auto ours = WriterId::of_this_process();
  Checked(layout.checked(), ours, owners).refresh();
  EXPECT_EQ(fs::file_size(layout.checked() / (ours.text() + ".log")), records.size());
  EXPECT_EQ(std::distance(fs::directory_iterator(layout.checked()), fs::directory_iterator{}), 1);
}

TEST_F(DamagedLogs, ALogThatCannotBeReadIsNoReasonToFail) {
  auto writer = WriterId::of_this_process();
  ++writer.start_time;
  for (int i = 0; i < 12; ++i) {  // more than are left unfolded
    ++writer.nonce;
    fs::create_directories(layout.verified() / (writer.text() + ".log"));  // as another user's: it can be listed alone
  }
  reopen();
  EXPECT_TRUE(store->present(small_tree.digest));
  EXPECT_TRUE(run().bad.empty());
}

TEST_F(DamagedLogs, GoodRecordsOfDeadWritersAreKept) {
  std::string facts;
  struct stat s {};
  for (std::uint64_t i = 0; i < 5; ++i) {
    s.st_ino = i;
    put_fact(facts, Fact::of(small_tree.digest, s), 0);
  }
  facts[2 * fact_record_size + 11] ^= 4;
  const auto log = layout.verified() / (name_of_a_dead_writer() + ".log");
  write_file(log, facts + "torn");
  const auto report = run();
  ASSERT_EQ(report.bad.size(), 1U);
  EXPECT_NE(report.bad[0].what.find("1 of 5"), std::string::npos) << report.bad[0].what;
  EXPECT_EQ(fs::file_size(log), 4 * fact_record_size);
  EXPECT_TRUE(run().bad.empty());
}

TEST_F(DamagedLogs, AJournalLosesOnlyTheDamagedRecord) {
  const std::string writer = name_of_a_dead_writer();
  const std::string bytes = seeded_bytes(3, 0, 3 * chunk_size_bytes);
  const auto tree = tree_of(bytes);
  const auto partial = layout.partial(tree.digest);
  for (const std::size_t hit : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    fs::remove_all(partial);
    fs::create_directories(partial);
    write_file(partial / "data", bytes);
    const auto file = partial / journal_name(writer);
    {
      JournalWriter journal(file, tree.digest.hash, 7);
      for (std::uint64_t i = 0; i < 3; ++i) journal.append(JournalRecordType::done, i, tree.chunks[i]);
    }
    tamper(file, hit * journal_record_size + 13);
    ASSERT_EQ(run().bad.size(), 1U) << hit;
    EXPECT_TRUE(run().bad.empty()) << hit;
    const auto resumed = store->open_partial(tree.digest, tree.chunks);
    std::vector<bool> expected(3, true);
    if (hit > 0) expected[hit - 1] = false;
    EXPECT_EQ(resumed->chunks_done(), expected) << hit;
    resumed->discard();
  }
}

TEST_F(DamagedLogs, ALivingWritersLogIsLeftAlone) {
  store->put_ref(sha256("x"), {manifest->root(), "", {}, 0, "", ""});
  store->note_arrival(sha256("x"), {large_tree.digest, false});
  const auto logs = files_below(layout.arrivals());
  ASSERT_EQ(logs.size(), 1U);
  tamper(layout.arrivals() / logs[0], 20);
  const auto before = read_file(layout.arrivals() / logs[0]);
  EXPECT_EQ(run().bad.size(), 1U);
  EXPECT_EQ(read_file(layout.arrivals() / logs[0]), before);
}

TEST_F(VerifyAgain, WhatIsCollectedMeanwhileIsNotBad) {
  VerifyOptions options;
  options.threads = 1;
  bool moved = false;
  options.on_bytes = [&](std::uint64_t) {
    if (moved) return;
    moved = true;
    for (const auto& tree : {large_tree, small_tree}) {  // one of them is still to come
      fs::create_directories(temp / "away");
      fs::rename(layout.object(tree.digest), temp / "away" / tree.digest.hash.hex());
    }
  };
  const auto report = verify(*store, nullptr, options);
  EXPECT_TRUE(report.bad.empty()) << report.bad[0].what;
  EXPECT_EQ(report.files, 1U);
  EXPECT_EQ(report.missing, 0U);
}

}  // namespace
}  // namespace sabath::test
