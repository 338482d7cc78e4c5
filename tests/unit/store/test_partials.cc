#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/hash.h"
#include "store/journal.h"
#include "store/known_partial.h"
#include "store/layout.h"
#include "store_fixture.h"

namespace sabath::test {
namespace {

constexpr std::uint64_t size = 3 * chunk_size_bytes + 1000;

struct Partials : StoreFixture {
  const std::string bytes = seeded_bytes(1, 0, size);
  const FileTree tree = tree_of(bytes);
  const Sha256 key = sha256("source");
  const Validators version{"\"v1\"", "Mon, 01 Jan 2024 00:00:00 GMT"};

  [[nodiscard]] std::span<const std::byte> chunk(std::uint64_t i) const {
    return bytes_of(bytes).subspan(i * chunk_size_bytes, chunk_length(size, i));
  }
  void write(Partial& partial, std::uint64_t i) const { partial.write_chunk(0, i, chunk(i), tree.chunks[i]); }
  [[nodiscard]] std::unique_ptr<Partial> known(Store& in) const { return in.open_partial(tree.digest, tree.chunks); }
  [[nodiscard]] std::filesystem::path known_directory() const { return Layout(directory).partial(tree.digest); }
  // A journal of a writer of another machine, and what it says.
  [[nodiscard]] JournalWriter foreign_journal(const std::string& host) const {
    WriterId writer = WriterId::of_this_process();
    writer.host.name = host;
    return {known_directory() / journal_name(writer.text()), tree.digest.hash, 1};
  }
};

TEST_F(Partials, KnownIsPublishedWhenAllIsThere) {
  const auto partial = known(*store);
  for (const std::uint64_t i : {2, 0, 3}) write(*partial, i);
  EXPECT_EQ(kind_of([&] { partial->publish(); }), FailureKind::storage);
  EXPECT_EQ(partial->chunks_done(), (std::vector<bool>{true, false, true, true}));
  write(*partial, 1);
  EXPECT_EQ(partial->publish().digest, tree.digest);
  EXPECT_EQ(object(tree.digest), bytes);
  EXPECT_TRUE(store->present(tree.digest));
  EXPECT_TRUE(files_below(directory / "partial").empty());
}

TEST_F(Partials, KnownRefusesWhatIsNotExpected) {
  const auto partial = known(*store);
  EXPECT_EQ(kind_of([&] { partial->write_chunk(0, 0, chunk(0), tree.chunks[1]); }), FailureKind::internal);
  EXPECT_EQ(kind_of([&] { partial->write_chunk(0, 4, chunk(0), tree.chunks[0]); }), FailureKind::internal);
  EXPECT_EQ(kind_of([&] { partial->write_chunk(0, 3, chunk(0), tree.chunks[3]); }), FailureKind::internal);
  EXPECT_EQ(kind_of([&] { (void)store->open_partial(tree.digest, {}); }), FailureKind::internal);
  auto wrong = tree.chunks;
  std::swap(wrong[0], wrong[1]);
  EXPECT_EQ(kind_of([&] { (void)store->open_partial(tree.digest, wrong); }), FailureKind::internal);
}

TEST_F(Partials, KnownEmptyFile) {
  const FileTree empty = tree_of("");
  EXPECT_EQ(store->open_partial(empty.digest, {})->publish().digest, empty.digest);
  EXPECT_TRUE(store->present(empty.digest));
}

TEST_F(Partials, KnownIsSharedByTwoStores) {
  const auto other = Store::open(directory, false);
  const auto a = known(*store), b = known(*other);
  write(*a, 0);
  b->claim(1);
  EXPECT_EQ(b->chunks_done(), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(a->chunks_done(), (std::vector<bool>{true, false, false, false}));
  EXPECT_TRUE(a->claimed_by_other(1));
  EXPECT_FALSE(b->claimed_by_other(1));
  EXPECT_FALSE(a->claimed_by_other(2));
  EXPECT_TRUE(b->claimed_by_other(0));  // done by the other: nobody needs it
  for (const std::uint64_t i : {1, 2}) write(*b, i);
  write(*a, 3);
  EXPECT_EQ(a->publish().digest, tree.digest);
  EXPECT_TRUE(b->claimed_by_other(2));
  EXPECT_EQ(b->chunks_done(), std::vector<bool>(4, true));
  write(*b, 3);  // late: changes nothing
  EXPECT_EQ(b->publish().digest, tree.digest);
  EXPECT_EQ(object(tree.digest), bytes);
  EXPECT_TRUE(other->present(tree.digest));
  EXPECT_TRUE(files_below(directory / "partial").empty());
}

TEST_F(Partials, KnownReadsWhatTheDeadJournaled) {
  {
    auto earlier = Store::open(directory, false);
    const auto partial = known(*earlier);
    for (const std::uint64_t i : {0, 1, 2}) write(*partial, i);
  }
  // A crash took chunk 1 after its record was written; the writer is made a dead one.
  for (const auto& entry : std::filesystem::directory_iterator(known_directory())) {
    const std::string name = entry.path().filename();
    const auto author = try_parse_journal_name(name);
    if (!author) continue;
    WriterId writer = *WriterId::try_parse(*author);
    ++writer.start_time;
    std::filesystem::rename(entry.path(), known_directory() / journal_name(writer.text()));
  }
  {
    const Fd fd = open_file(known_directory() / "data", O_RDWR);
    write_all_at(fd.get(), std::vector<std::byte>(chunk_size_bytes), chunk_size_bytes, "data");
  }
  const auto partial = known(*store);
  EXPECT_EQ(partial->chunks_done(), (std::vector<bool>{true, false, true, false}));
  for (const std::uint64_t i : {1, 3}) write(*partial, i);
  partial->publish();
  EXPECT_EQ(object(tree.digest), bytes);
}

TEST_F(Partials, KnownBelievesNoLyingJournal) {
  const auto partial = known(*store);
  auto liar = foreign_journal("elsewhere");
  for (std::uint64_t i = 0; i < 4; ++i) liar.append(JournalRecordType::done, i, tree.chunks[i]);
  write(*partial, 0);
  (void)partial->chunks_done();
  EXPECT_EQ(kind_of([&] { partial->publish(); }), FailureKind::storage);
  EXPECT_FALSE(store->present(tree.digest));
  EXPECT_EQ(partial->chunks_done(), (std::vector<bool>{true, false, false, false}));
  for (const std::uint64_t i : {1, 2, 3}) write(*partial, i);
  partial->publish();
  EXPECT_EQ(object(tree.digest), bytes);
}

TEST_F(Partials, AForeignClaimEndsWhenItStopsAdvancing) {
  const auto partial = known(*store);
  auto journal = foreign_journal("elsewhere");
  journal.append(JournalRecordType::claim, 2);
  std::chrono::steady_clock::time_point now{};
  OtherWriters others(known_directory(), WriterId::of_this_process(), tree.digest.hash, tree.chunks,
                      [&] { return now; });
  const auto claimed = [&] {
    others.refresh(true);
    return others.claims(2);
  };
  EXPECT_TRUE(claimed());
  now += std::chrono::seconds(9);
  EXPECT_TRUE(claimed());
  journal.append(JournalRecordType::claim, 2);
  EXPECT_TRUE(claimed());
  now += std::chrono::seconds(9);
  EXPECT_TRUE(claimed());
  now += std::chrono::seconds(2);
  EXPECT_FALSE(claimed());
  journal.append(JournalRecordType::claim, 2);  // it was only slow
  EXPECT_TRUE(claimed());
}

TEST_F(Partials, KnownThatWasRemovedSaysSo) {
  const auto partial = known(*store);
  for (std::uint64_t i = 0; i < 4; ++i) write(*partial, i);
  std::filesystem::remove_all(known_directory());
  EXPECT_EQ(kind_of([&] { partial->publish(); }), FailureKind::storage);
  EXPECT_FALSE(store->present(tree.digest));
  // Another begins anew under the same name: its unfinished file is not ours to publish.
  const auto other = Store::open(directory, false);
  const auto anew = known(*other);
  EXPECT_EQ(kind_of([&] { partial->publish(); }), FailureKind::storage);
  EXPECT_FALSE(store->present(tree.digest));
  for (std::uint64_t i = 0; i < 4; ++i) write(*anew, i);
  anew->publish();
  EXPECT_EQ(object(tree.digest), bytes);
}

TEST_F(Partials, KnownLeavesNothingWhenNothingCame) {
  known(*store).reset();
  EXPECT_FALSE(std::filesystem::exists(known_directory()));
}

TEST_F(Partials, LanesShareOneObject) {
  const auto partial = known(*store);
  {
    std::vector<std::jthread> lanes;
    for (unsigned lane = 0; lane < 4; ++lane) {
      lanes.emplace_back([&, lane] {
        partial->claim(lane);
        (void)partial->adopt_scratch(lane);
        const auto whole = chunk(lane);
        for (std::size_t at = 0; at < whole.size(); at += 1 << 20) {
          partial->write_scratch(lane, lane, at, whole.subspan(at, std::min<std::size_t>(1 << 20, whole.size() - at)));
        }
        (void)partial->claimed_by_other(lane);
        partial->write_chunk(lane, lane, whole, tree.chunks[lane]);
        (void)partial->chunks_done();
      });
    }
  }
  partial->publish();
  EXPECT_EQ(object(tree.digest), bytes);
}

TEST_F(Partials, UnknownIsWrittenInAnyOrder) {
  const auto partial = store->open_partial(key);
  std::vector<std::byte> read(2000);
  write(*partial, 2);
  EXPECT_EQ(partial->front(), 0U);
  EXPECT_EQ(partial->read(0, read), 0U);
  EXPECT_EQ(partial->read(2 * chunk_size_bytes, read), 2000U);
  EXPECT_EQ(partial->read(3 * chunk_size_bytes - 500, read), 500U);
  EXPECT_EQ(kind_of([&] { (void)partial->publish(); }), FailureKind::internal) << "it has a gap";
  EXPECT_EQ(partial->chunks_done(), (std::vector<bool>{false, false, true}));
  for (const std::uint64_t i : {1, 0, 3}) write(*partial, i);
  EXPECT_EQ(partial->front(), size);
  EXPECT_EQ(kind_of([&] { partial->write_chunk(0, 3, {}, {}); }), FailureKind::internal);
  EXPECT_EQ(partial->read(size - 500, read), 500U);
  const FileTree published = partial->publish();
  EXPECT_EQ(published.digest, tree.digest);
  EXPECT_EQ(published.chunks, tree.chunks);
  EXPECT_EQ(object(tree.digest), bytes);
  EXPECT_FALSE(store->has_partial(key));
}

TEST_F(Partials, AChunkIsClaimedByOne) {
  const auto other_store = Store::open(directory, false);
  const auto mine = known(*store), theirs = known(*other_store);
  EXPECT_EQ(mine->claim_run(1, 2), 2U);
  EXPECT_EQ(theirs->claim_run(2, 1), 0U) << "at once, not when it looks next";
  EXPECT_EQ(theirs->claim_run(0, 4), 1U) << "as far as it is free";
  EXPECT_EQ(mine->claim_run(3, 9), 1U) << "there are no more chunks";
  mine->release(2);
  EXPECT_EQ(theirs->claim_run(1, 3), 0U);
  EXPECT_EQ(theirs->claim_run(2, 2), 1U);
  write(*theirs, 2);
  EXPECT_EQ(mine->claim_run(2, 1), 0U) << "it is done";
}

TEST_F(Partials, OfWritersThatClaimAtOnceOneGetsIt) {
  constexpr int writers = 6, rounds = 20;
  int won = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::unique_ptr<Store>> stores;
    std::vector<std::unique_ptr<Partial>> partials;
    for (int i = 0; i < writers; ++i) {
      stores.push_back(Store::open(directory, false));
      partials.push_back(known(*stores.back()));
    }
    std::atomic<int> ready = 0, winners = 0;
    {
      std::vector<std::jthread> threads;
      for (const auto& partial : partials) {
        threads.emplace_back([&, one = partial.get()] {
          ++ready;
          while (ready < writers) std::this_thread::yield();
          if (one->claim_run(0, 1) == 1) ++winners;
        });
      }
    }
    ASSERT_GE(winners, 1) << "somebody fetches it";
    won += winners;
    partials.front()->discard();  // this process lives on, and so would the claims
  }
  EXPECT_LE(won, rounds + rounds / 4) << "who wrote its claim after another had looked back costs a chunk, and is rare";
}

TEST_F(Partials, KnownTellsWhatTheDeadLeft) {
  const auto partial = known(*store);
  WriterId writer = WriterId::of_this_process();
  const std::string alive = writer.text();
  ++writer.start_time;  // as if that process were over
  const std::string dead = writer.text();
  const auto leave = [&](const std::string& name, std::uint64_t index, std::size_t length) {
    ScratchLanes lanes(known_directory(), name);
    for (std::size_t at = 0; at < length; at += 10'000) {
      lanes.write(0, index, at, chunk(index).subspan(at, 10'000));
    }
  };
  leave(dead, 1, 70'000);
  leave(alive, 2, 50'000);
  const std::map<std::uint64_t, std::uint64_t> left{{1, 70'000}};
  EXPECT_TRUE(wait_until([&] { return partial->scratch_left() == left; }));
  EXPECT_TRUE(std::ranges::equal(partial->adopt_scratch(1), chunk(1).first(70'000)));
  EXPECT_TRUE(partial->scratch_left().empty()) << "it is taken";
}

TEST_F(Partials, KnownDoesNotTellOfWhatIsDone) {
  WriterId writer = WriterId::of_this_process();
  ++writer.start_time;
  std::filesystem::create_directories(known_directory());
  ScratchLanes(known_directory(), writer.text()).write(0, 1, 0, chunk(1).first(70'000));
  ScratchLanes(known_directory(), writer.text()).write(1, 2, 0, chunk(2).first(80'000));
  const auto partial = known(*store);
  write(*partial, 1);
  EXPECT_EQ(partial->scratch_left(), (std::map<std::uint64_t, std::uint64_t>{{2, 80'000}}));
}

TEST_F(Partials, UnknownIsResumedWithItsScratch) {
  {
    const auto partial = store->open_partial(key);
    partial->note_validators(version, size);
    for (std::uint64_t i = 0; i < 2; ++i) write(*partial, i);
    // The lane is slow again only in the eyes of a new object, so the scratch is written by one.
  }
  ASSERT_TRUE(store->has_partial(key));
  {
    const auto partial = store->open_partial(key);
    EXPECT_EQ(partial->validators_noted(), version);
    std::string teed;
    partial->adopt_front(version, [&](std::span<const std::byte> piece) {
      teed.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    });
    EXPECT_EQ(partial->front(), 2 * chunk_size_bytes);
    EXPECT_EQ(teed, bytes.substr(0, 2 * chunk_size_bytes));
    EXPECT_FALSE(store->has_partial(key));  // it is open here
    partial->write_scratch(0, 2, 0, chunk(2).first(70'000));
  }
  const auto partial = store->open_partial(key);
  partial->adopt_front(version, [](std::span<const std::byte>) {});
  const auto start = partial->adopt_scratch(2);
  EXPECT_TRUE(std::ranges::equal(start, chunk(2).first(70'000)));
  for (const std::uint64_t i : {2, 3}) write(*partial, i);
  EXPECT_EQ(partial->publish().digest, tree.digest);
}

TEST_F(Partials, UnknownKeepsTheShortLastChunk) {
  {
    const auto partial = store->open_partial(key);
    for (std::uint64_t i = 0; i < 4; ++i) write(*partial, i);
  }
  for (int again = 0; again < 2; ++again) {
    const auto partial = store->open_partial(key);
    partial->adopt_front({}, [](std::span<const std::byte>) {});
    EXPECT_EQ(partial->front(), 3 * chunk_size_bytes);
    EXPECT_TRUE(std::ranges::equal(partial->adopt_scratch(3), chunk(3)));
  }
}

TEST_F(Partials, UnknownStopsAtTheFirstMismatch) {
  {
    const auto partial = store->open_partial(key);
    for (std::uint64_t i = 0; i < 3; ++i) write(*partial, i);
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory / "partial")) {
    if (entry.path().filename() == "data") tamper(entry.path(), chunk_size_bytes + 9);
  }
  const auto partial = store->open_partial(key);
  partial->adopt_front({}, [](std::span<const std::byte>) {});
  EXPECT_EQ(partial->front(), chunk_size_bytes);
  for (const std::uint64_t i : {1, 2, 3}) write(*partial, i);
  EXPECT_EQ(partial->publish().digest, tree.digest);
  EXPECT_EQ(object(tree.digest), bytes);
}

TEST_F(Partials, UnknownOfAnotherVersionIsThrownAway) {
  {
    const auto partial = store->open_partial(key);
    partial->note_validators(version, size);
    write(*partial, 0);
  }
  const auto partial = store->open_partial(key);
  partial->adopt_front({"\"v2\"", ""}, [](std::span<const std::byte>) { FAIL(); });
  EXPECT_EQ(partial->front(), 0U);
  EXPECT_TRUE(partial->validators_noted().empty());
  write(*partial, 0);
  partial->restart();
  EXPECT_EQ(partial->front(), 0U);
  partial->discard();
  EXPECT_TRUE(files_below(directory / "partial").empty());
}

TEST_F(Partials, UnknownThatIsNotLookedAtIsBegunAnew) {
  {
    const auto partial = store->open_partial(key);
    for (std::uint64_t i = 0; i < 3; ++i) write(*partial, i);
  }
  const auto partial = store->open_partial(key);
  write(*partial, 0);
  EXPECT_EQ(partial->publish().digest, tree_of(bytes.substr(0, chunk_size_bytes)).digest);
}

}  // namespace
}  // namespace sabath::test
