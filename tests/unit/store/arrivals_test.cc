#include "store/hints/arrivals.h"

#include "store_fixture.h"

namespace sabath::test {
namespace {

Sha256 source(std::uint8_t number) {
  std::array<std::uint8_t, Sha256::size> bytes{};
  bytes[0] = number;
  return Sha256(bytes);
}

Arrival arrival_of(std::string_view bytes) { return {tree_of(bytes).digest, true}; }

WriterId dead_writer(std::uint64_t nonce) {
  WriterId writer = WriterId::of_this_process();
  ++writer.start_time;
  writer.nonce = nonce;
  return writer;
}

TEST(ArrivalRecord, IsWhatWasPutOrNothing) {
  std::string bytes;
  put_arrival(bytes, {source(1), arrival_of("x"), 7});
  ASSERT_EQ(bytes.size(), arrival_record_size);
  const auto note = try_parse_arrival(bytes);
  ASSERT_TRUE(note);
  EXPECT_EQ(note->source, source(1));
  EXPECT_EQ(note->arrival, arrival_of("x"));
  EXPECT_EQ(note->time_ns, 7);
  EXPECT_FALSE(try_parse_arrival(std::string_view(bytes).substr(1)));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= 1;
    EXPECT_FALSE(try_parse_arrival(bytes)) << i;
    bytes[i] ^= 1;
  }
}

TEST(ArrivalRecord, SaysHowNearItCameFrom) {
  for (const auto reach :
       {std::optional<Reach>(), std::optional(Reach::global), std::optional(Reach::link), std::optional(Reach::host)}) {
    std::string bytes;
    put_arrival(bytes, {source(1), {arrival_of("x").digest, reach == Reach::link, reach}, 7});
    const auto note = try_parse_arrival(bytes);
    ASSERT_TRUE(note);
    EXPECT_EQ(note->arrival.reach, reach);
    EXPECT_EQ(note->arrival.over_tls, reach == Reach::link);
  }
}

TEST(Arrivals, AreFoundByTheNextProcess) {
  const TempDir temp;
  Arrivals(temp.path(), dead_writer(1), owners).add(source(1), arrival_of("x"));
  Arrivals arrivals(temp.path(), WriterId::of_this_process(), owners);
  EXPECT_EQ(arrivals.find(source(1)), arrival_of("x"));
  EXPECT_FALSE(arrivals.find(source(2)));
  arrivals.add(source(2), arrival_of("y"));
  EXPECT_EQ(arrivals.find(source(2)), arrival_of("y"));
}

TEST(Arrivals, TheNewestOfASourceCounts) {
  const TempDir temp;
  Arrivals(temp.path(), dead_writer(2), owners).add(source(1), arrival_of("old"));
  Arrivals(temp.path(), dead_writer(1), owners).add(source(1), arrival_of("new"));
  EXPECT_EQ(Arrivals(temp.path(), WriterId::of_this_process(), owners).find(source(1)), arrival_of("new"));
}

TEST(Arrivals, AKillTakesOnlyAFewSmallFiles) {
  const TempDir temp;
  Arrivals writing(temp.path(), WriterId::of_this_process(),
                   owners);  // destroyed only at the end: as if it were killed
  for (std::uint8_t i = 0; i < 200; ++i) writing.add(source(i), arrival_of("x"));
  Arrival big = arrival_of("x");
  big.digest.size_bytes = chunk_size_bytes + 1;
  writing.add(source(200), big);
  writing.add(source(201), arrival_of("x"));
  Arrivals reading(temp.path(), dead_writer(1), owners);
  for (std::uint8_t i = 0; i <= 200; ++i) EXPECT_TRUE(reading.find(source(i))) << int{i};
  EXPECT_FALSE(reading.find(source(201)));
}

TEST(Arrivals, SkipDamageAndForeignFiles) {
  const TempDir temp;
  for (std::uint8_t i = 1; i <= 3; ++i) Arrivals(temp.path(), dead_writer(i), owners).add(source(i), arrival_of("x"));
  const auto log = temp / (dead_writer(2).text() + ".log");
  std::string bytes = read_file(log);
  bytes[20] ^= 1;
  write_file(log, bytes + "torn");
  write_file(temp / "other.log", "no record");
  std::filesystem::create_directory(temp / "directory.log");
  Arrivals arrivals(temp.path(), WriterId::of_this_process(), owners);
  EXPECT_TRUE(arrivals.find(source(1)));
  EXPECT_FALSE(arrivals.find(source(2)));
  EXPECT_TRUE(arrivals.find(source(3)));
}

TEST(Arrivals, LogsOfTheDeadAreFoldedAndNoNoteIsLost) {
  const TempDir temp;
  for (std::uint8_t i = 1; i <= 12; ++i) Arrivals(temp.path(), dead_writer(i), owners).add(source(i), arrival_of("x"));
  ASSERT_EQ(files_below(temp.path()).size(), 12U);
  for (int again = 0; again < 2; ++again) {
    Arrivals arrivals(temp.path(), WriterId::of_this_process(), owners);
    for (std::uint8_t i = 1; i <= 12; ++i) EXPECT_TRUE(arrivals.find(source(i))) << int{i};
  }
  EXPECT_EQ(files_below(temp.path()).size(), 1U);
}

}  // namespace
}  // namespace sabath::test
