#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "partials_fixture.h"
#include "store/partials/known_partial.h"

namespace sabath::test {
namespace {

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

// A publisher removes the data first and then the journals: a process that opens the partial in between finds the
// journals of another file.
TEST_F(Partials, KnownThatWasPublishedWhileItWasOpened) {
  const auto first = known(*store);
  for (const std::uint64_t i : {0, 1, 2, 3}) write(*first, i);
  const auto journals = temp / "journals", hidden = temp / "object";
  std::filesystem::copy(known_directory(), journals);
  EXPECT_EQ(first->publish().digest, tree.digest);
  const auto place = store->object_path(tree.digest);
  std::filesystem::rename(place, hidden);
  std::filesystem::remove(journals / "data");
  std::filesystem::copy(journals, known_directory());
  const auto other = Store::open(directory, false);
  const auto late = known(*other);
  EXPECT_EQ(late->chunks_done(), std::vector<bool>(4, true));  // its writer lives, and is believed until the end
  EXPECT_EQ(kind_of([&] { late->publish(); }), FailureKind::storage);
  std::filesystem::rename(hidden, place);
  EXPECT_EQ(late->publish().digest, tree.digest);
  EXPECT_EQ(object(tree.digest), bytes);
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
  EXPECT_EQ(b->claim_run(1, 1), 1U);
  EXPECT_EQ(b->chunks_done(), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(a->chunks_done(), (std::vector<bool>{true, false, false, false}));
  EXPECT_TRUE(a->claimed_by_other(1));
  EXPECT_FALSE(b->claimed_by_other(1));
  EXPECT_FALSE(a->claimed_by_other(2));
  EXPECT_TRUE(b->claimed_by_other(0));  // done by the other: no process needs it
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

TEST_F(Partials, KnownThatWasRemovedComesBack) {
  const auto partial = known(*store);
  for (const std::uint64_t i : {0, 2, 3}) write(*partial, i);
  const auto other = Store::open(directory, false);
  const auto helper = known(*other);
  write(*helper, 1);  // `partial` has heard of this one: it is not fetched again
  EXPECT_EQ(partial->chunks_done(), std::vector<bool>(4, true));
  std::filesystem::remove_all(known_directory());
  // Another begins anew under the same name: its unfinished file is not ours to publish.
  const auto third = Store::open(directory, false);
  const auto anew = known(*third);
  EXPECT_EQ(partial->publish().digest, tree.digest);
  EXPECT_EQ(object(tree.digest), bytes);
  EXPECT_EQ(helper->publish().digest, tree.digest);
  write(*anew, 0);
  EXPECT_EQ(anew->publish().digest, tree.digest);
  EXPECT_EQ(object(tree.digest), bytes);
  EXPECT_TRUE(files_below(directory / "partial").empty());
}

TEST_F(Partials, AStoreThatWasRemovedIsNotMadeAgain) {
  const auto partial = known(*store);
  write(*partial, 0);
  std::filesystem::remove_all(directory);
  EXPECT_EQ(kind_of([&] { write(*partial, 1); }), FailureKind::storage);
  EXPECT_EQ(kind_of([&] { partial->publish(); }), FailureKind::storage);
  EXPECT_FALSE(std::filesystem::exists(directory));
}

// A writer that brought nothing moves the directory aside for a moment, before it sees that others work there.
TEST_F(Partials, KnownWritesWhileItsDirectoryIsElsewhere) {
  const auto partial = known(*store);
  const auto aside = temp / "aside";
  write(*partial, 0);
  std::filesystem::rename(known_directory(), aside);
  write(*partial, 1);  // there is a new one
  const auto other = Store::open(directory, false);
  EXPECT_EQ(known(*other)->chunks_done(), (std::vector<bool>{true, true, false, false}));
  std::filesystem::remove_all(aside);
  write(*partial, 2);
  write(*partial, 3);
  EXPECT_EQ(partial->publish().digest, tree.digest);
  EXPECT_EQ(object(tree.digest), bytes);
  EXPECT_TRUE(files_below(directory / "partial").empty());
}

TEST_F(Partials, WhatOthersSayOfANewDirectoryIsNotDoubtedForTheOldOne) {
  const auto partial = known(*store);
  write(*partial, 2);
  std::filesystem::remove_all(known_directory());
  const auto other = Store::open(directory, false);
  const auto theirs = known(*other);
  write(*theirs, 0);
  EXPECT_FALSE(partial->claimed_by_other(1)) << "it reads their journal, then sees that its own file is elsewhere";
  EXPECT_EQ(partial->chunks_done(), (std::vector<bool>{true, false, true, false}));
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
        EXPECT_EQ(partial->claim_run(lane, 1), 1U);
        (void)partial->adopt_scratch(lane);
        const auto whole = chunk(lane);
        for (std::size_t at = 0; at < whole.size(); at += 1 << 20) {
          const std::size_t fresh = std::min<std::size_t>(1 << 20, whole.size() - at);
          partial->write_scratch(lane, lane, 0, whole.first(at + fresh), fresh);
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
  constexpr int writers = 6, rounds = 40;
  int won = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::unique_ptr<Store>> stores;
    std::vector<std::unique_ptr<SharedPartial>> partials;
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
    ASSERT_LE(winners, 1) << "round " << round;
    if (winners == 0) {  // on a busy machine: each gave way to one that gave way as well
      ASSERT_EQ(partials.front()->claim_run(0, 1), 1U) << "nobody holds it, round " << round;
    }
    won += winners;
    partials.front()->discard();  // this process lives on, and so would the claims
  }
  EXPECT_GE(won, rounds * 3 / 4);
}

TEST_F(Partials, KnownTellsWhatTheDeadLeft) {
  const auto partial = known(*store);
  WriterId writer = WriterId::of_this_process();
  const std::string alive = writer.text();
  ++writer.start_time;  // as if that process were over
  const std::string dead = writer.text();
  const auto leave = [&](const std::string& name, std::uint64_t index, std::size_t length) {
    ScratchLanes lanes(known_directory(), name, at_once);
    for (std::size_t at = 0; at < length; at += 10'000) {
      lanes.write(0, index, 0, chunk(index).first(at + 10'000), 10'000);
    }
  };
  leave(dead, 1, 70'000);
  leave(alive, 2, 50'000);
  const std::map<std::uint64_t, std::uint64_t> left{{1, 70'000}};
  EXPECT_TRUE(wait_until([&] { return partial->scratch_left() == left; }));
  EXPECT_TRUE(std::ranges::equal(start_of(partial->adopt_scratch(1)), chunk(1).first(70'000)));
  EXPECT_TRUE(partial->scratch_left().empty()) << "it is taken";
}

TEST_F(Partials, KnownDoesNotTellOfWhatIsDone) {
  WriterId writer = WriterId::of_this_process();
  ++writer.start_time;
  std::filesystem::create_directories(known_directory());
  ScratchLanes(known_directory(), writer.text(), at_once).write(0, 1, 0, chunk(1).first(70'000), 70'000);
  ScratchLanes(known_directory(), writer.text(), at_once).write(1, 2, 0, chunk(2).first(80'000), 80'000);
  const auto partial = known(*store);
  write(*partial, 1);
  EXPECT_EQ(partial->scratch_left(), (std::map<std::uint64_t, std::uint64_t>{{2, 80'000}}));
}

}  // namespace
}  // namespace sabath::test
