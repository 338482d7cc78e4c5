#include "store/partials/journal.h"

#include <fcntl.h>

#include <thread>

#include "store/disk/layout.h"
#include "store/disk/writer_logs.h"
#include "store/hints/evidence.h"
#include "store/hints/evidence_log.h"
#include "store/partials/scratch.h"
#include "store_fixture.h"

namespace sabath::test {
namespace {

std::string journal_bytes() {
  std::string bytes;
  put_journal_record(bytes, {JournalRecordType::header, 0, journal_version, tree_of("key").digest.hash, 7});
  put_journal_record(bytes, {JournalRecordType::claim, 1, 3, {}, 0});
  put_journal_record(bytes, {JournalRecordType::done, 2, 3, tree_of("chunk").digest.hash, 0});
  put_journal_record(bytes, {JournalRecordType::done, 3, 4, tree_of("other").digest.hash, 0});
  return bytes;
}

JournalState state_of(std::string_view bytes) {
  JournalState state(tree_of("key").digest.hash, 10);
  state.take(bytes);
  return state;
}

TEST(Journal, SaysWhatWasWritten) {
  const auto state = state_of(journal_bytes());
  ASSERT_EQ(state.claims().size(), 1U);
  EXPECT_EQ(state.claims()[0], 3U);
  ASSERT_EQ(state.done().size(), 2U);
  EXPECT_EQ(state.done()[1].index, 4U);
  EXPECT_EQ(state.done()[1].hash, tree_of("other").digest.hash);
}

TEST(Journal, EveryFlippedBitTakesItsRecordOnly) {
  const std::string good = journal_bytes();
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    const auto state = state_of(bad);
    const std::size_t record = bit / 8 / journal_record_size;
    EXPECT_EQ(state.claims().size(), record < 2 ? 0U : 1U);
    EXPECT_EQ(state.done().size(), record == 0 ? 0U : record == 1 ? 2U : 1U);
  }
}

TEST(Journal, RefusesRecordsOfOtherPlacesPartialsAndSizes) {
  const std::string good = journal_bytes();
  EXPECT_TRUE(state_of(std::string_view(good).substr(journal_record_size)).done().empty());  // no header
  std::string moved = good;
  moved.replace(2 * journal_record_size, journal_record_size, good, 3 * journal_record_size, journal_record_size);
  EXPECT_EQ(state_of(moved).done().size(), 1U);
  JournalState other(tree_of("another key").digest.hash, 10), small(tree_of("key").digest.hash, 4);
  other.take(good);
  small.take(good);
  EXPECT_TRUE(other.done().empty());
  EXPECT_EQ(small.done().size(), 1U);
  EXPECT_TRUE(state_of(std::string_view(good).substr(0, 63)).done().empty());
}

TEST(Journal, ReaderFollowsWriter) {
  const TempDir temp;
  const Sha256 of = tree_of("key").digest.hash;
  JournalWriter writer(temp / "journal", of, 1);
  JournalReader reader(temp / "journal", of, 10);
  EXPECT_TRUE(reader.read_more());
  EXPECT_FALSE(reader.read_more());
  writer.append(JournalRecordType::done, 2, of);
  EXPECT_TRUE(reader.read_more());
  EXPECT_EQ(reader.state().done().size(), 1U);
}

TEST(EvidenceLog, SkipsDamage) {
  std::string bytes;
  struct stat s {};
  s.st_ino = 5;
  const Fact fact = Fact::of(tree_of("x").digest, s);
  for (int i = 0; i < 3; ++i) put_fact(bytes, fact, 1);
  ASSERT_EQ(bytes.size(), 3 * fact_record_size);
  EXPECT_EQ(try_parse_fact(std::string_view(bytes).substr(0, fact_record_size)), fact);
  bytes[fact_record_size + 20] ^= 1;
  bytes += "torn";
  const TempDir temp;
  write_file(temp / "log", bytes);
  int seen = 0;
  EXPECT_EQ(read_facts(temp / "log", 0, [&](const Fact&) { ++seen; }), 3 * fact_record_size);
  EXPECT_EQ(seen, 2);
}

TEST(EvidenceLog, AFactIsFoundInALongLog) {
  const TempDir temp;
  const Owners owners;
  const Digest digest = tree_of("x").digest;
  std::string bytes;
  struct stat s {};
  s.st_size = static_cast<off_t>(digest.size_bytes);
  for (s.st_ino = 1; s.st_ino <= 10'000; ++s.st_ino) put_fact(bytes, Fact::of(digest, s), 1);
  bytes[4999 * fact_record_size + 70] ^= 1;  // of the time: the guard is wrong, the rest is right
  const auto log = temp / (WriterId::of_this_process().text() + ".log");
  write_file(log, bytes + "torn");
  const auto open = try_open_trusted(owners, log);
  ASSERT_TRUE(open);
  Evidence evidence(temp.path(), WriterId::of_this_process(), owners);
  for (const ino_t inode : {ino_t{1}, ino_t{4097}, ino_t{5000}, ino_t{10'000}, ino_t{10'001}, ino_t{7}, ino_t{5000}}) {
    s.st_ino = inode;
    const bool there = inode <= 10'000 && inode != 5000;
    EXPECT_EQ(has_fact(open->get(), log, Fact::of(digest, s)), there) << inode;
    EXPECT_EQ(evidence.matches(digest, s), there) << inode;
    s.st_mtim.tv_nsec = 1;
    EXPECT_FALSE(has_fact(open->get(), log, Fact::of(digest, s)));
    s.st_mtim.tv_nsec = 0;
  }
}

TEST(EvidenceLog, LogsOfTheDeadAreFoldedAndNoFactIsLost) {
  const TempDir temp;
  const Owners owners;
  const Digest digest = tree_of("x").digest;
  struct stat s {};
  s.st_size = static_cast<off_t>(digest.size_bytes);
  WriterId writer = WriterId::of_this_process();
  ++writer.start_time;  // a dead process
  for (ino_t i = 1; i <= 12; ++i) {
    writer.nonce = i;
    s.st_ino = i;
    Evidence(temp.path(), writer, owners).add(digest, s);
  }
  ASSERT_EQ(files_below(temp.path()).size(), 12U);
  for (int again = 0; again < 2; ++again) {
    Evidence evidence(temp.path(), WriterId::of_this_process(), owners);
    for (s.st_ino = 1; s.st_ino <= 12; ++s.st_ino) EXPECT_TRUE(evidence.matches(digest, s)) << s.st_ino;
    s.st_ino = 13;
    EXPECT_FALSE(evidence.matches(digest, s));
  }
  EXPECT_EQ(files_below(temp.path()).size(), 1U);
}

TEST(WriterLogs, WhatIsTakenOverMeanwhileIsFound) {
  const TempDir temp;
  const Owners owners;
  const WriterLogs logs(temp.path(), WriterId::of_this_process(), owners);
  write_file(temp / "a.log", "");
  write_file(temp / "b.log", "taken over");
  std::vector<std::string> seen;
  logs.read([&](const std::filesystem::path& log) {
    if (seen.empty()) {  // its owner folds: the list that is gone through is an old one now
      write_file(temp / "a.log", "taken over");
      std::filesystem::remove(temp / "b.log");
      seen.emplace_back();
    } else if (std::filesystem::exists(log)) {
      seen.push_back(read_file(log));
    }
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"", "taken over"}));
}

TEST(Scratch, GivesWhatCameInOrder) {
  const TempDir temp;
  const std::string chunk = seeded_bytes(1, 0, 1'000'000);
  ScratchLanes lanes(temp.path(), "me", at_once);
  for (std::size_t at = 0; at < 500'000; at += 100'000) {
    lanes.write(2, 9, 0, bytes_of(chunk).first(at + 100'000), 100'000);
  }
  const auto file = temp / scratch_name("me", 2);
  const auto parts = read_scratch(file, 9, chunk_size_bytes);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].offset, 0U);
  EXPECT_TRUE(std::ranges::equal(parts[0].bytes, bytes_of(chunk).first(500'000)));
  const auto given = [&](std::uint64_t index, std::uint64_t most) {
    return start_of(read_scratch(file, index, most)).size();
  };
  EXPECT_EQ(given(8, chunk_size_bytes), 0U);  // another chunk
  EXPECT_EQ(given(9, 250'000), 200'000U);     // no more than the chunk has
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  EXPECT_EQ(scratch_parts(file), (std::vector<ScratchPart>{{9, 0, 400'000}}));
  EXPECT_TRUE(scratch_parts(temp / "none").empty());
  EXPECT_EQ(given(9, chunk_size_bytes), 400'000U);  // a torn piece
  std::string bytes = read_file(file);
  bytes[150'000] ^= 1;
  write_file(file, bytes);
  EXPECT_EQ(given(9, chunk_size_bytes), 100'000U);
}

// Lanes that share chunks bring parts of several before the first of them is whole.
TEST(Scratch, KeepsPartsUntilTheirChunksAreDone) {
  const TempDir temp;
  const std::string chunk = seeded_bytes(1, 0, 1'000'000);
  ScratchLanes lanes(temp.path(), "me", at_once);
  const auto write = [&](std::uint64_t index, std::size_t part, std::size_t from, std::size_t to) {
    lanes.write(0, index, part, bytes_of(chunk).subspan(part, to - part), to - from);
  };
  write(4, 600, 600, 1000);
  write(4, 600, 1000, 2000);
  write(7, 0, 0, 300);
  const auto file = temp / scratch_name("me", 0);
  EXPECT_EQ(scratch_parts(file), (std::vector<ScratchPart>{{4, 600, 1400}, {7, 0, 300}}));
  const auto of_four = read_scratch(file, 4, chunk_size_bytes);
  ASSERT_EQ(of_four.size(), 1U);
  EXPECT_TRUE(std::ranges::equal(of_four[0].bytes, bytes_of(chunk).subspan(600, 1400)));
  EXPECT_TRUE(start_of(of_four).empty()) << "nothing of its start is here";
  lanes.chunk_done(3, 4);  // another lane has brought the last of it
  write(7, 0, 300, 500);
  EXPECT_EQ(start_of(read_scratch(file, 7, chunk_size_bytes)).size(), 500U);
  lanes.chunk_done(0, 7);
  EXPECT_EQ(std::filesystem::file_size(file), 0U);
  EXPECT_TRUE(lanes.empty());
}

// A chunk that was wrong comes again, and what was there of it before is not offered.
TEST(Scratch, TheLaterOfTwoPartsCounts) {
  const TempDir temp;
  const std::string wrong = seeded_bytes(1, 0, 1000), right = seeded_bytes(2, 0, 1000);
  ScratchLanes lanes(temp.path(), "me", at_once);
  lanes.write(0, 4, 0, bytes_of(wrong).first(700), 700);
  lanes.write(0, 4, 0, bytes_of(right).first(500), 500);
  EXPECT_TRUE(
      std::ranges::equal(start_of(read_scratch(temp / scratch_name("me", 0), 4, 1000)), bytes_of(right).first(500)));
}

TEST(Scratch, PartsAreJoinedUpToTheFirstGap) {
  const std::string chunk = seeded_bytes(1, 0, 1000);
  const auto part = [&](std::size_t from, std::size_t to) {
    const auto bytes = bytes_of(chunk).subspan(from, to - from);
    return ScratchBytes{from, {bytes.begin(), bytes.end()}};
  };
  EXPECT_TRUE(
      std::ranges::equal(start_of({part(500, 700), part(0, 200), part(150, 400), part(100, 120), part(400, 450)}),
                         bytes_of(chunk).first(450)));
  EXPECT_TRUE(start_of({part(1, 5)}).empty());
}

TEST(Scratch, SparesPartsThatComeQuickly) {
  const TempDir temp;
  const std::string chunk = seeded_bytes(1, 0, 1000);
  ScratchLanes lanes(temp.path(), "me");
  for (std::uint64_t index = 1; index <= 3; ++index) {
    lanes.write(0, index, 0, bytes_of(chunk).first(600), 600);
    lanes.write(0, index, 0, bytes_of(chunk), 400);
    EXPECT_FALSE(std::filesystem::exists(temp / scratch_name("me", 0)));
    lanes.chunk_done(0, index);
  }
  EXPECT_TRUE(lanes.empty());
}

// Also what came of it before, which stands in memory.
TEST(Scratch, KeepsAllOfAPartThatLasts) {
  const TempDir temp;
  const std::string chunk = seeded_bytes(1, 0, 1000);
  ScratchLanes lanes(temp.path(), "me");
  const auto write = [&](std::size_t part, std::size_t from, std::size_t to) {
    lanes.write(0, 3, part, bytes_of(chunk).subspan(part, to - part), to - from);
  };
  const auto file = temp / scratch_name("me", 0);
  write(100, 100, 300);
  std::this_thread::sleep_for(ScratchLanes::worth_keeping);
  write(100, 300, 400);
  write(100, 400, 450);
  EXPECT_EQ(scratch_parts(file), (std::vector<ScratchPart>{{3, 100, 350}}));
  const auto kept = read_scratch(file, 3, chunk_size_bytes);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_TRUE(std::ranges::equal(kept[0].bytes, bytes_of(chunk).subspan(100, 350)));
  write(700, 700, 800);  // elsewhere: a part of its own, and young
  EXPECT_EQ(scratch_parts(file), (std::vector<ScratchPart>{{3, 100, 350}}));
  lanes.chunk_done(0, 3);
  EXPECT_TRUE(lanes.empty());
}

TEST(Writer, IsReadBackFromItsText) {
  const auto self = WriterId::of_this_process();
  EXPECT_LE(self.text().size(), 180U);
  EXPECT_EQ(WriterId::try_parse(self.text()), self);
  WriterId dotted = self;
  dotted.host.name = "node1.cluster.example";
  EXPECT_EQ(WriterId::try_parse(dotted.text()), dotted);
  for (const std::string& bad :
       std::vector<std::string>{"", "host", "host.1.2.3.4.5", "host.1.2.3.4.5.zz", "host.01.2.3.4.5.6", ".1.2.3.4.5.6",
                                "host.1.2.3.-4.5.6", "host.1.2.3.4.5.6+0"}) {
    EXPECT_FALSE(WriterId::try_parse(bad)) << bad;
  }
}

TEST(Writer, IsJudgedOnlyWhereItCanBe) {
  const auto self = WriterId::of_this_process();
  const auto life = [&](auto change) {
    WriterId other = self;
    change(other);
    return life_of(other, self.host);
  };
  EXPECT_EQ(life([](WriterId&) {}), Life::alive);
  EXPECT_EQ(life([](WriterId& w) { ++w.start_time; }), Life::dead);
  EXPECT_EQ(life([](WriterId& w) { w.pid = 0x3fffffff; }), Life::dead);
  EXPECT_EQ(life([](WriterId& w) { w.host.name = "elsewhere"; }), Life::unknown);
  EXPECT_EQ(life([](WriterId& w) { ++w.host.machine; }), Life::unknown);
  EXPECT_EQ(life([](WriterId& w) { ++w.host.pid_namespace; }), Life::unknown);
  EXPECT_EQ(life([](WriterId& w) { ++w.host.boot; }), Life::unknown) << "perhaps of a copy of this machine";
}

TEST(Layout, ParsesOnlyItsOwnNames) {
  const Digest digest = tree_of("abc").digest;
  const auto path = Layout("/s").object(digest);
  const std::string directory = path.parent_path().filename(), name = path.filename();
  EXPECT_EQ(try_parse_object_name(directory, name), digest);
  for (const std::string& bad :
       std::vector<std::string>{name + "0x", "0" + name, name.substr(1), name.substr(0, 62), name.substr(0, 62) + ".",
                                name.substr(0, 62) + ".03", name.substr(0, 62) + ".-3",
                                std::string("A") + name.substr(1), name.substr(0, 62) + ".99999999999999999999"}) {
    EXPECT_FALSE(try_parse_object_name(directory, bad)) << bad;
  }
  EXPECT_FALSE(try_parse_object_name("a", name));
  EXPECT_EQ(try_parse_scratch_name("scratch.a.b.7"), "a.b");
  EXPECT_FALSE(try_parse_scratch_name("scratch.x"));
  EXPECT_FALSE(try_parse_scratch_name("data"));
  EXPECT_EQ(try_parse_journal_name("journal.a.b"), "a.b");
}

}  // namespace
}  // namespace sabath::test
