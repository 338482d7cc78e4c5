// The leader of a file without a known digest: two stores, writers of other machines, processes that are killed.
#include "store/partials/leader_watch.h"

#include <signal.h>

#include <random>
#include <thread>

#include "base/file.h"
#include "base/hash.h"
#include "store/disk/layout.h"
#include "store/partials/journal.h"
#include "store/state.h"
#include "store_fixture.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
constexpr std::uint64_t followed_size = 4 * chunk_size_bytes + 12'345;

struct Leading : StoreFixture {
  const std::string bytes = seeded_bytes(9, 0, followed_size);
  const FileTree tree = tree_of(bytes);
  const Sha256 key = sha256("9");
  const SourceVersion version{{"\"one\"", ""}, "somebody"};
  const std::function<void(std::span<const std::byte>)> ignore = [](std::span<const std::byte>) {};

  std::chrono::steady_clock::time_point time{};
  Store::State here{directory};  // who watches
  LeaderWatch watch{here, key, [this] { return time; }};

  Leader look_after(std::chrono::milliseconds wait) {
    time += wait;
    return watch.look();
  }
  [[nodiscard]] std::span<const std::byte> chunk(std::uint64_t i) const {
    return bytes_of(bytes).subspan(i * chunk_size_bytes, chunk_length(followed_size, i));
  }
  void write(OwnPartial& partial, std::uint64_t i) const { partial.write_chunk(0, i, chunk(i), tree.chunks[i]); }
  void write_all(OwnPartial& partial) const {
    for (std::uint64_t i = partial.front() / chunk_size_bytes; i < tree.chunks.size(); ++i) write(partial, i);
  }
  // The directory of a writer that this machine cannot judge, with the first chunks of the file.
  [[nodiscard]] fs::path foreign(std::uint64_t chunks,
                                 const std::string& source = R"({"etag":"\"one\"","source":"somebody"})") const {
    WriterId writer = WriterId::of_this_process();
    writer.host.name = "elsewhere";
    const std::string name = writer.text() + "+0";
    const fs::path at = Layout(directory).partial(key) / name;
    fs::create_directories(at);
    write_file(at / partial_data_name, bytes.substr(0, chunks * chunk_size_bytes));
    write_file(at / partial_source_name, source);
    JournalWriter journal(at / journal_name(name), key, 1);
    for (std::uint64_t i = 0; i < chunks; ++i) journal.append(JournalRecordType::done, i, tree.chunks[i]);
    return at;
  }
};

TEST(PartialNames, AreListedOnceForAllThatAskAtOneTime) {
  const test::TempDir directory;
  const fs::path partials = directory.path() / "partial";
  PartialNames names(partials);
  const PartialNames::Time begin{};
  EXPECT_FALSE(names.has("a", begin, 100ms)) << "there is no directory";
  fs::create_directories(partials / "a");
  EXPECT_FALSE(names.has("a", begin + 99ms, 100ms)) << "nobody has looked again";
  EXPECT_TRUE(names.has("a", begin + 100ms, 100ms));
  EXPECT_FALSE(names.has("b", begin + 100ms, 100ms));
  fs::remove_all(partials);
  write_file(partials, "no directory");
  EXPECT_TRUE(names.has("b", begin + 200ms, 100ms)) << "what cannot be listed is looked at";
}

TEST_F(Leading, NobodyIsThere) {
  EXPECT_EQ(look_after(0ms), Leader::none);
  EXPECT_FALSE(watch.left_version());
}

TEST_F(Leading, AnotherLeadsUntilItHasPublished) {
  auto partial = store->open_partial(key);
  partial->note_version(version, followed_size);
  write(*partial, 0);
  EXPECT_EQ(look_after(0ms), Leader::active);
  write_all(*partial);
  const Digest digest = partial->publish().digest;
  EXPECT_EQ(look_after(200ms), Leader::active) << "it is gone, and its note is on its way";
  store->note_arrival(key, {digest, true});
  EXPECT_EQ(look_after(50ms), Leader::active) << "it looks at most once in the interval";
  EXPECT_EQ(look_after(50ms), Leader::published);
  EXPECT_EQ(here.arrivals.find(key), (Arrival{digest, true}));
}

TEST_F(Leading, AnEarlierNoteIsNotThisPublication) {
  const auto partial = store->open_partial(key);  // without any partial there is nothing to look for
  store->note_arrival(key, {tree.digest, true});
  LeaderWatch later(here, key, [this] { return time; });
  ASSERT_EQ(here.arrivals.find(key), std::nullopt) << "loaded before";
  EXPECT_EQ(later.look(), Leader::published) << "this process did not know of it";
  LeaderWatch last(here, key, [this] { return time; });
  EXPECT_EQ(last.look(), Leader::active);
  store->note_arrival(key, {tree.digest, true});
  EXPECT_EQ(last.look(), Leader::active) << "it looks at most once in the interval";
  EXPECT_EQ(last.look_now(), Leader::published);
}

TEST_F(Leading, ALeaderThatThrewAwayIsNotWaitedForLong) {
  auto partial = store->open_partial(key);
  write(*partial, 0);
  EXPECT_EQ(look_after(0ms), Leader::active);
  partial->discard();
  EXPECT_EQ(look_after(200ms), Leader::active);
  EXPECT_EQ(look_after(LeaderWatch::vanished_max), Leader::none);
}

TEST_F(Leading, ItIsFollowedAsLongAsItAdvances) {
  const fs::path at = foreign(1);
  EXPECT_EQ(look_after(0ms), Leader::active);
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(look_after(9s), Leader::active) << i;
    write_file(at / scratch_name(at.filename().native(), 0), std::string(static_cast<std::size_t>(i), 'x'));
    EXPECT_EQ(look_after(1s), Leader::active) << i;
  }
  EXPECT_EQ(look_after(OtherWriters::quiet_max), Leader::none);
  write_file(at / scratch_name(at.filename().native(), 0), "");
  EXPECT_EQ(look_after(1s), Leader::active) << "it goes on";
}

TEST_F(Leading, OfTwoThatBeganTogetherOneGoesOn) {
  Store::State there(directory);
  LeaderWatch other(there, key, [this] { return time; });
  const auto mine = std::make_unique<Store::State>(directory);
  EXPECT_EQ(watch.look(), Leader::none);
  EXPECT_EQ(other.look(), Leader::none);
  const auto make = [&](const Store::State& state) {
    const std::string name = state.writer.text() + "+0";
    const fs::path at = state.layout.partial(key) / name;
    fs::create_directories(at);
    return JournalWriter(at / journal_name(name), key, 1);
  };
  auto journal_here = make(here), journal_there = make(there);
  time += 1s;
  const Leader first = watch.look(), second = other.look();
  EXPECT_NE(first, second);
  EXPECT_TRUE(first == Leader::none || second == Leader::none);
  // The writer that has more goes on, under either name.
  auto& behind = first == Leader::none ? journal_there : journal_here;
  behind.append(JournalRecordType::done, 0, tree.chunks[0]);
  time += 1s;
  EXPECT_EQ(watch.look(), second);
  EXPECT_EQ(other.look(), first);
}

TEST_F(Leading, WhatAQuietWriterLeftIsCopiedAndNotTouched) {
  const fs::path at = foreign(3);
  const auto before = try_lstat(at / partial_data_name);
  EXPECT_EQ(watch.left_version(), version);
  const auto partial = store->open_partial(key);
  std::string seen;
  const auto tee = [&](std::span<const std::byte> part) {
    seen.append(reinterpret_cast<const char*>(part.data()), part.size());
  };
  EXPECT_EQ(watch.copy_left(*partial, {{"\"two\"", ""}, "somebody"}, tee), 0U) << "another version";
  EXPECT_EQ(watch.copy_left(*partial, version, tee), 3 * chunk_size_bytes);
  EXPECT_TRUE(seen == bytes.substr(0, seen.size()));
  EXPECT_EQ(partial->front(), 3 * chunk_size_bytes);
  EXPECT_EQ(partial->version_noted(), version);
  const auto after = try_lstat(at / partial_data_name);
  ASSERT_TRUE(before && after);
  EXPECT_EQ(before->st_ino, after->st_ino);
  EXPECT_EQ(before->st_mtim.tv_nsec, after->st_mtim.tv_nsec);
  EXPECT_EQ(before->st_ctim.tv_nsec, after->st_ctim.tv_nsec);
  write_all(*partial);
  EXPECT_EQ(partial->publish().digest, tree.digest);
}

TEST_F(Leading, AChunkThatItsJournalDoesNotVouchForIsNotCopied) {
  const fs::path at = foreign(3);
  tamper(at / partial_data_name, chunk_size_bytes + 7);
  const auto partial = store->open_partial(key);
  EXPECT_EQ(watch.copy_left(*partial, version, ignore), 2 * chunk_size_bytes) << "what follows it is";
  EXPECT_EQ(partial->front(), chunk_size_bytes);
  EXPECT_EQ(partial->chunks_done(), (std::vector<bool>{true, false, true}));
}

TEST_F(Leading, DamagedNotesAndStrangeNamesAreNobody) {
  const fs::path at = foreign(2, "{");
  fs::create_directories(at.parent_path() / "not-a-writer+0");
  EXPECT_FALSE(watch.left_version());
  const auto partial = store->open_partial(key);
  EXPECT_EQ(watch.copy_left(*partial, {}, ignore), 0U);
  fs::remove_all(at);
  LeaderWatch fresh(here, sha256("another"), [this] { return time; });
  EXPECT_EQ(fresh.look(), Leader::none);
}

TEST_F(Leading, ManyThreadsWatchOneStore) {
  const auto partial = store->open_partial(key);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      LeaderWatch own(here, key);
      EXPECT_TRUE(wait_until([&] { return own.look() == Leader::published; }));
    });
  }
  // The threads' watches may begin before or after the first note: so there is one more all the time.
  std::jthread noting([&](std::stop_token stop) {
    while (!stop.stop_requested()) {
      store->note_arrival(key, {tree.digest, true});
      std::this_thread::sleep_for(10ms);
    }
  });
  threads.clear();
}

struct Following : Leading {
  int logs = 0;
  struct Child {
    std::unique_ptr<ChildProcess> process;
    fs::path log;
  };
  Child start() {
    const fs::path log = temp / ("log" + std::to_string(logs++));
    return {std::make_unique<ChildProcess>(
                child_command({"shared", directory, "9", std::to_string(followed_size), "20000"}), log),
            log};
  }
  [[nodiscard]] fs::path directory_of_leader(std::uint64_t data_min) const {
    const fs::path partial = directory / "partial" / key.hex();
    for (const auto& name : fs::exists(partial) ? files_below(partial) : std::vector<std::string>()) {
      std::error_code error;
      if (name.ends_with("/data") && fs::file_size(partial / name, error) >= data_min && !error) {
        return (partial / name).parent_path();
      }
    }
    return {};
  }
};

TEST_F(Following, FourProcessesFetchItOnce) {
  std::vector<Child> children;
  for (int i = 0; i < 4; ++i) children.push_back(start());
  std::uint64_t brought = 0;
  for (auto& child : children) {
    EXPECT_EQ(child.process->wait(), 0) << read_file(child.log);
    brought += std::stoull(read_file(child.log));
  }
  EXPECT_EQ(brought, followed_size);
  EXPECT_EQ(object(tree.digest), bytes);
  EXPECT_TRUE(files_below(directory / "partial").empty());
}

TEST_F(Following, WhenTheLeaderIsKilledAnotherGoesOnWithWhatItLeft) {
  std::vector<Child> children;
  for (int i = 0; i < 4; ++i) children.push_back(start());
  ASSERT_TRUE(wait_until([&] { return !directory_of_leader(2 * chunk_size_bytes).empty(); }));
  const std::string leader = directory_of_leader(0).filename();
  const auto id = WriterId::try_parse(leader.substr(0, leader.find('+')));
  ASSERT_TRUE(id);
  ASSERT_EQ(::kill(static_cast<pid_t>(id->pid), SIGKILL), 0);
  std::uint64_t brought = 0;
  int killed = 0;
  for (auto& child : children) {
    const int code = child.process->wait();
    if (code == 0) {
      brought += std::stoull(read_file(child.log));
    } else {
      EXPECT_EQ(code, 128 + SIGKILL) << read_file(child.log);
      ++killed;
    }
  }
  EXPECT_EQ(killed, 1);
  EXPECT_LE(brought, followed_size - 2 * chunk_size_bytes);
  EXPECT_EQ(object(tree.digest), bytes);
}

}  // namespace
}  // namespace sabath::test
