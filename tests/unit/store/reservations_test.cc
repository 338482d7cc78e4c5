// Room that is promised once, however many ask for it at the same time.
#include <atomic>
#include <barrier>
#include <filesystem>
#include <thread>

#include "store/disk/layout.h"
#include "store/space/reservation.h"
#include "store/space/reservation_file.h"
#include "store/state.h"
#include "store_fixture.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;

struct Reservations : StoreFixture {
  const Layout layout{directory};
  const WriterId self = WriterId::of_this_process();

  [[nodiscard]] std::vector<FoundReservation> read(std::int64_t now_ns = 0) const {
    return read_reservations(layout, self.host, [&] { return now_ns; });
  }
  // As another process would have written it.
  fs::path write_as(WriterId writer, const std::string& text) const {
    writer.nonce = 1;
    fs::create_directories(layout.reservations());
    const auto file = layout.reservations() / (writer.text() + "+0");
    write_file(file, text);
    return file;
  }
  // A disk of `size` bytes, of which no process has written any yet.
  static Reservation::Judge disk(std::uint64_t size, std::uint64_t more) {
    return [=](const Promised& others, const Promised& own) -> std::optional<Failure> {
      if (others.bytes + own.bytes + more <= size) return std::nullopt;
      return Failure{FailureKind::space, "full", "", std::nullopt};
    };
  }
};

TEST_F(Reservations, StandsUntilItEnds) {
  {
    store->work_for("job 7");
    Reservation mine(*store, "a test");
    EXPECT_TRUE(read().empty()) << "nothing is written before something is wanted";
    mine.grow(100, 3, disk(100, 100));
    const auto found = read();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].live);
    EXPECT_EQ(found[0].text, (ReservationText{"a test", "job 7", 100, 3, 0, 0, false}));
    EXPECT_EQ(promised_by_others(*store).bytes, 100U) << "a plan subtracts it";
    EXPECT_EQ(promised_by_others(*store).user_inodes, 3U);
    EXPECT_EQ(kind_of([&] { mine.grow(1, 0, disk(100, 1)); }), FailureKind::space);
    EXPECT_EQ(read()[0].text.bytes, 100U);
    EXPECT_FALSE(read()[0].text.asks());
  }
  EXPECT_TRUE(read().empty());
}

TEST_F(Reservations, ShrinksAsBytesLand) {
  Reservation mine(*store, "a test");
  mine.grow(10'000'000, 10, disk(UINT64_MAX, 0));
  put(std::string(4'000'000, 'x'));
  mine.grow(1, 0, disk(UINT64_MAX, 0));  // writes what is so by now
  EXPECT_EQ(read()[0].text.bytes, 6'000'001U);
  EXPECT_EQ(read()[0].text.inodes, 9U);
  put(std::string(9'000'000, 'y'));  // more than was reserved: nothing is left, and nothing wraps around
  mine.grow(0, 1, disk(UINT64_MAX, 0));
  EXPECT_EQ(read()[0].text.bytes, 0U);
}

TEST_F(Reservations, OfManyAtOnceAsManyGetItAsFit) {
  constexpr int askers = 6, rounds = 3;
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> granted{0};
    std::barrier start(askers), asked(askers);
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < askers; ++i) {
        threads.emplace_back([&] {
          const auto own = Store::open(directory, false);
          Reservation mine(*own, "one of many");
          start.arrive_and_wait();
          try {
            mine.grow(40, 0, disk(100, 40));
            ++granted;
          } catch (const Error&) {}
          asked.arrive_and_wait();  // those who got it keep it until all have asked
        });
      }
    }
    EXPECT_EQ(granted, 2) << "of 100 bytes two can have 40";
    EXPECT_TRUE(read().empty());
  }
}

TEST_F(Reservations, TheDeadReserveNothingAndAreCleared) {
  WriterId dead = self;
  dead.pid = 4'000'000;  // above the kernel's largest
  const auto file = write_as(dead, encode_reservation({"gone", "", 1000, 1, 0, 0, false}));
  EXPECT_EQ(promised_by_others(*store).bytes, 0U);
  EXPECT_TRUE(fs::exists(file)) << "asking changes nothing";
  Reservation mine(*store, "a test");
  mine.grow(10, 0, disk(10, 10));
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(Reservations, AStrangersCountsWhileItIsFresh) {
  WriterId stranger = self;
  stranger.host.name = "elsewhere";
  write_as(stranger, encode_reservation({"theirs", "", 1000, 1, 0, 0, false}));
  EXPECT_EQ(promised_by_others(*store).bytes, 1000U);
  constexpr std::int64_t year_2200 = 7'258'118'400'000'000'000;
  EXPECT_FALSE(read(year_2200)[0].live) << "silent for more than five minutes";
  Reservation mine(*store, "a test");
  EXPECT_EQ(kind_of([&] { mine.grow(10, 0, disk(1009, 10)); }), FailureKind::space);
  mine.grow(9, 0, disk(1009, 9));
}

TEST_F(Reservations, DamagedOnesPromiseNothing) {
  const std::string right = encode_reservation({"x", "y", 1000, 1, 0, 0, false});
  EXPECT_TRUE(try_decode_reservation(right));
  for (std::size_t i = 0; i < right.size(); ++i) {
    std::string wrong = right;
    wrong[i] = static_cast<char>(wrong[i] ^ 1);
    EXPECT_FALSE(try_decode_reservation(wrong)) << i;
  }
  for (const char* text : {"", "{}", "[]", "null", "{\"bytes\":-1}"}) EXPECT_FALSE(try_decode_reservation(text));
  WriterId stranger = self;
  stranger.host.name = "elsewhere";
  write_as(stranger, right.substr(0, right.size() / 2));
  EXPECT_EQ(promised_by_others(*store).writers, 0U);
  write_as(stranger, std::string(1 << 20, 'x'));
  EXPECT_EQ(promised_by_others(*store).writers, 0U);
}

TEST_F(Reservations, WhoAsksAndFallsSilentCountsAsGranted) {
  WriterId stranger = self;
  stranger.host.name = "elsewhere";
  write_as(stranger, encode_reservation({"hangs", "", 0, 0, 1000, 0, false}));
  Reservation mine(*store, "a test");
  EXPECT_EQ(kind_of([&] { mine.grow(10, 0, disk(1009, 10)); }), FailureKind::space);
  write_as(stranger, encode_reservation({"waits", "", 0, 0, 1000, 0, true}));
  mine.grow(10, 0, disk(1009, 10));
}

}  // namespace
}  // namespace sabath::test
