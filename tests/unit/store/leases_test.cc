#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "base/hash.h"
#include "store/disk/layout.h"
#include "store/disk/writer.h"
#include "store/leases/lease_file.h"
#include "store/leases/uses.h"
#include "store/pins.h"
#include "store_fixture.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t second = 1'000'000'000;

struct Leases : StoreFixture {
  const Layout layout{directory};
  const HostId here = WriterId::of_this_process().host;
  const Sha256 a = sha256("a"), b = sha256("b");

  std::vector<FoundLease> read(std::int64_t later_ns = 0) {
    return read_leases(layout, here, server_now(store->state().temporaries) + later_ns);
  }
  // A lease as another process would have written it.
  void write_as(WriterId writer, const LeaseText& text) {
    writer.nonce = 1;
    fs::create_directories(layout.leases());
    write_file(layout.leases() / (writer.text() + "+0"), encode_lease(text));
  }
};

TEST_F(Leases, StandsWhileItLives) {
  {
    store->work_for("job 7");
    auto lease = store->lease({a}, "a test", {true});
    ASSERT_TRUE(lease.held());
    lease.add(b);
    lease.add(b);
    const auto found = read();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].live && !found[0].damaged);
    EXPECT_EQ(found[0].text.roots, (std::vector<Sha256>{a, b}));
    EXPECT_EQ(found[0].text.note, "a test");
    EXPECT_EQ(found[0].text.job, "job 7");
    EXPECT_TRUE(found[0].text.open);
    EXPECT_GT(found[0].text.since_ns, 0);
    EXPECT_LE(found[0].text.since_ns, server_now(store->state().temporaries));
  }
  EXPECT_TRUE(read().empty());
  EXPECT_TRUE(used_at(layout, a) && used_at(layout, b));
}

TEST_F(Leases, AMovedLeaseEndsOnce) {
  Lease kept;
  {
    Lease first = store->lease({a}, "x");
    kept = std::move(first);
    EXPECT_FALSE(first.held());
  }
  EXPECT_EQ(read().size(), 1U);
  kept = Lease();
  EXPECT_TRUE(read().empty());
}

TEST_F(Leases, LivesAsItsWriterDoes) {
  const auto self = WriterId::of_this_process();
  auto dead = self;
  dead.start_time += 1;  // another process had this pid
  write_as(dead, {"dead", "", false, 1, {a}});
  ASSERT_EQ(read().size(), 1U);
  EXPECT_FALSE(read()[0].live);
  fs::remove_all(layout.leases());
  auto rebooted = self;
  rebooted.host.boot ^= 1;
  write_as(rebooted, {"before the boot", "", false, 1, {a}});
  EXPECT_TRUE(read()[0].live) << "perhaps of a copy of this machine";
  EXPECT_FALSE(read(301 * second)[0].live);
  fs::remove_all(layout.leases());
  write_as(self, {"this process, silent for long", "", false, 1, {a}});
  EXPECT_TRUE(read(3600 * second)[0].live);
}

TEST_F(Leases, AnotherHostsLivesByItsHeartbeat) {
  auto other = WriterId::of_this_process();
  other.host.name = "elsewhere";
  write_as(other, {"x", "", false, 1, {a}});
  EXPECT_TRUE(read()[0].live);
  EXPECT_TRUE(read(299 * second)[0].live);
  EXPECT_FALSE(read(301 * second)[0].live);
  EXPECT_TRUE(read(-86'400 * second)[0].live) << "a clock that jumped back ends no lease";
  const std::array<timespec, 2> far{timespec{4'000'000'000, 0}, timespec{4'000'000'000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, read()[0].file.c_str(), far.data(), 0), 0);
  EXPECT_TRUE(read()[0].live);
  EXPECT_FALSE(read(301 * second)[0].live) << "a beat to come is none";
}

TEST_F(Leases, ADamagedOneCountsAsTheWorst) {
  const auto lease = store->lease({a}, "x");
  const auto file = read()[0].file;
  for (const std::string bytes : {"", "{}", "{\"note\":1}", "\xff\xfe"}) {
    write_file(file, bytes);
    const auto found = read();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].damaged && found[0].live && found[0].text.open);
    EXPECT_EQ(found[0].text.since_ns, 0);
  }
}

TEST_F(Leases, TextsHaveOneSpelling) {
  const LeaseText text{"note \x01 \"", "j", true, 17, {a, b}};
  const std::string bytes = encode_lease(text);
  EXPECT_EQ(try_decode_lease(bytes), text);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    EXPECT_FALSE(try_decode_lease(flipped)) << i;
  }
}

TEST_F(Leases, MoreRootsThanItHoldsMakeItOpen) {
  std::vector<Sha256> many;
  for (std::size_t i = 0; i <= lease_roots_max; ++i) many.push_back(sha256(std::to_string(i)));
  auto lease = store->lease(many, "x");
  EXPECT_TRUE(read()[0].text.open);
  EXPECT_EQ(read()[0].text.roots.size(), lease_roots_max);
  auto grown = store->lease({}, "y");
  for (const auto& root : many) grown.add(root);
  for (const auto& found : read()) EXPECT_TRUE(found.text.open && !found.damaged);
}

TEST_F(Leases, WhatIsViewedBelongsToOpenLeases) {
  const auto tree = put("x");
  ManifestBuilder builder;
  builder.add_file(RelativePath::parse("x"), tree.digest, tree.chunks);
  const auto manifest = *store->manifest(store->put_manifest(builder));
  const auto open = store->lease({}, "fetch", {true});
  const auto shut = store->lease({}, "run");
  (void)store->make_view(manifest);
  for (const auto& found : read()) EXPECT_EQ(found.text.roots.size(), found.text.open ? 1U : 0U);
}

TEST_F(Leases, AReadOnlyStoreGivesNone) {
  if (::geteuid() == 0) {  // root may write anything: a file in the folder's place refuses all
    write_file(layout.leases(), "");
  } else {
    fs::permissions(directory, fs::perms::owner_read | fs::perms::owner_exec);
  }
  auto lease = store->lease({a}, "x");
  EXPECT_FALSE(lease.held());
  lease.add(b);
  fs::permissions(directory, fs::perms::owner_all);
}

TEST_F(Leases, PinsStandUntilTheyAreLetGo) {
  EXPECT_TRUE(read_pins(*store).empty());
  put_pin(*store, {a, "zeta", 5});
  put_pin(*store, {b, "alpha", 6});
  put_pin(*store, {b, "alpha", 7});
  const auto pins = read_pins(*store);
  ASSERT_EQ(pins.size(), 2U);
  EXPECT_EQ(pins[0], (Pin{b, "alpha", 7}));
  const auto of_a = [this](const Pin& pin) { return pin.root == a; };
  EXPECT_EQ(remove_pins(*store, of_a), (std::vector{Pin{a, "zeta", 5}}));
  EXPECT_TRUE(remove_pins(*store, of_a).empty());
  put_pin(*store, {b, "beta", 8});
  EXPECT_EQ(read_pins(*store), (std::vector{Pin{b, "alpha", 7}, Pin{b, "beta", 8}})) << "two names of one root";
  EXPECT_EQ(remove_pins(*store, [](const Pin& pin) { return pin.name == "beta"; }).size(), 1U);
  write_file(layout.pin(b, "alpha"), "damaged");
  ASSERT_EQ(read_pins(*store).size(), 1U);
  EXPECT_EQ(read_pins(*store)[0].root, b) << "a damaged pin still keeps";
  for (const std::string& stray : {std::string("stray"), b.hex() + ".12", b.hex() + "1234567890abcdef0"})
    write_file(layout.pins() / stray, "x");
  EXPECT_EQ(read_pins(*store).size(), 1U);
  write_file(layout.pins() / a.hex(), encode_pin({a, "of an earlier SABATH", 1}));
  EXPECT_EQ(read_pins(*store).size(), 2U);
  EXPECT_EQ(remove_pins(*store, of_a).size(), 1U);
}

}  // namespace
}  // namespace sabath::test
