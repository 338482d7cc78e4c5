// Notes are bound to their names, those of an earlier SABATH count where no other user could have moved them, and what
// is no regular file is passed over.
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "store/collect/collect.h"
#include "store/disk/note.h"
#include "store/disk/ref_file.h"
#include "store/leases/lease_file.h"
#include "store/pins.h"
#include "store/shared.h"
#include "store/state.h"
#include "store_fixture.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view head = "sabath note 1 ";

Ref ref_to(std::string_view root, const std::string& trusted_by = "first use") {
  return {sha256(root), trusted_by, {}, 1'700'000'000, "https://a.example/f", ""};
}

// Of code in data, as 0.1 wrote it.
std::string earlier_index(const std::string& body) {
  return "sabath code in data 1\n" + sha256(body).hex() + "\n" + body;
}

struct Notes : StoreFixture {
  const Layout layout{directory};
  const Sha256 a = sha256("a"), b = sha256("b");
  const std::string md5_a = std::string(32, 'a'), md5_b = std::string(32, 'b');

  void SetUp() override { fs::permissions(directory, fs::perms(0755)); }
  void put_all() {
    store->put_ref(a, ref_to("a"));
    store->put_ref(b, ref_to("b"));
    store->put_alias("md5", md5_a, tree_of("a").digest);
    store->put_alias("md5", md5_b, tree_of("b").digest);
    store->put_index(a, "of a");
    store->put_index(b, "of b");
  }
  static void place(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    write_file(file, text);
  }
};

TEST_F(Notes, ABodyIsOfOneNameAlone) {
  const std::string text = bind_note("refs/ab/cd.json", "body");
  EXPECT_EQ(open_note("refs/ab/cd.json", text).body, "body");
  EXPECT_EQ(open_note("refs/ab/cd.json", text).binding, Binding::own);
  for (const char* other : {"refs/ab/c.json", "refs/ab/cd.jso", "refs/ab/cd.json1", "indexes/ab/cd", ""})
    EXPECT_EQ(open_note(other, text).binding, Binding::wrong) << other;
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string bad = text;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(open_note("refs/ab/cd.json", bad).binding, bit / 8 < head.size() ? Binding::none : Binding::wrong) << bit;
  }
  for (std::size_t size = head.size(); size < text.size(); ++size)
    EXPECT_EQ(open_note("refs/ab/cd.json", text.substr(0, size)).binding, Binding::wrong) << size;
}

TEST_F(Notes, TheNameIsThatOfTheFileOfAnyOwner) {
  for (const char* top : {"/s", "/s/", "/s.d/x.1"}) {
    const Layout own(top), member(top, 7);
    EXPECT_EQ(note_name(own, own.ref(a)), note_name(member, member.ref(a)));
    EXPECT_TRUE(note_name(own, own.ref(a)).starts_with("refs/")) << note_name(own, own.ref(a));
    EXPECT_EQ(note_name(member, member.alias("md5", md5_a)), "alias/md5/aa/" + md5_a.substr(2));
  }
}

TEST_F(Notes, AMovedOneCountsForNothing) {
  put_all();
  EXPECT_EQ(store->index(a, 100), "of a");
  for (const auto& [from, to] :
       std::vector<std::pair<fs::path, fs::path>>{{layout.ref(a), layout.ref(b)},
                                                  {layout.alias("md5", md5_a), layout.alias("md5", md5_b)},
                                                  {layout.index(a), layout.index(b)}})
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(store->ref(b));
  EXPECT_FALSE(store->alias("md5", md5_b));
  EXPECT_FALSE(store->alias_hint("md5", md5_b));
  EXPECT_FALSE(store->index(b, 100));
  EXPECT_TRUE(store->ref(a) && store->alias("md5", md5_a) && store->index(a, 100));
  EXPECT_EQ(store->verify(nullptr, 1, {}).bad.size(), 3U);
  EXPECT_TRUE(store->verify(nullptr, 1, {}).bad.empty());
  fs::copy_file(layout.ref(a), layout.index(b));  // of another kind
  EXPECT_FALSE(store->index(b, 100'000));
}

TEST_F(Notes, OfAnEarlierSabathCountWhereNoOtherUserWrites) {
  const std::string index = earlier_index("x: a pickle\n");
  const auto write = [&] {
    place(layout.ref(a), encode_ref(ref_to("a", "checksum")));
    place(layout.alias("md5", md5_a), encode_alias(tree_of("a").digest));
    place(layout.index(a), index);
  };
  const auto renewed = [&](const fs::path& file) { return read_file(file).starts_with(head); };
  for (const fs::path& opened : {directory, layout.refs(), layout.ref(a).parent_path()}) {
    write();
    fs::permissions(opened, fs::perms(0777));
    EXPECT_FALSE(store->ref(a)) << opened;
    fs::permissions(opened, fs::perms(0755));
  }
  EXPECT_EQ(store->alias_hint("md5", md5_a), tree_of("a").digest) << "hashed before it is believed";
  write();
  for (int time = 0; time < 2; ++time) {
    const auto ref = store->ref(a);
    ASSERT_TRUE(ref);
    EXPECT_EQ(ref->root, sha256("a"));
    EXPECT_EQ(ref->proved, proved_by_name);
    EXPECT_EQ(store->alias("md5", md5_a), tree_of("a").digest);
    EXPECT_EQ(store->index(a, 100'000), index);
    for (const auto& file : {layout.ref(a), layout.alias("md5", md5_a), layout.index(a)}) EXPECT_TRUE(renewed(file));
  }
  EXPECT_TRUE(store->verify(nullptr, 1, {}).bad.empty());
  write();
  EXPECT_TRUE(store->verify(nullptr, 1, {}).bad.empty()) << "those of run and apply are known";
}

TEST_F(Notes, OfAMemberStandInARoomOfHisOwn) {
  const fs::path shared = temp / "shared";
  make_shared_store(shared, std::nullopt);
  const auto mine = Store::open(shared, false);
  const Layout own(shared, ::geteuid());
  mine->put_ref(a, ref_to("a"));
  mine->put_alias("md5", md5_a, tree_of("a").digest);
  mine->put_index(a, "of a");
  for (const auto& file : {own.ref(a), own.alias("md5", md5_a), own.index(a)}) {
    EXPECT_TRUE(fs::exists(file)) << file;
    for (fs::path at = file.parent_path(); at != shared; at = at.parent_path()) {
      struct stat s {};
      ASSERT_EQ(::stat(at.c_str(), &s), 0);
      EXPECT_EQ(s.st_mode & 0777, 0755U) << at;
    }
  }
  EXPECT_TRUE(mine->ref(a) && mine->alias("md5", md5_a) && mine->index(a, 100));
  // A program of before has one room for all, and writes no names.
  place(Layout(shared).ref(b), encode_ref(ref_to("b")));
  place(own.ref(b), encode_ref(ref_to("b")));
  place(own.index(b), earlier_index(""));
  EXPECT_FALSE(mine->ref(b));
  EXPECT_FALSE(mine->index(b, 1000));
  EXPECT_TRUE(mine->verify(nullptr, 1, {}).bad.empty());
}

TEST_F(Notes, WhatVerifyTookForDamagedComesBackOnce) {
  const std::string index = earlier_index("");
  place(layout.quarantine() / (a.hex() + "+host.1+0"), index);
  place(layout.quarantine() / (b.hex() + "+host.1+1"), "really damaged");
  EXPECT_TRUE(store->verify(nullptr, 1, {}).bad.empty());
  EXPECT_EQ(store->index(a, 1000), index);
  EXPECT_EQ(files_below(layout.quarantine()).size(), 1U);
  EXPECT_TRUE(store->verify(nullptr, 1, {}).bad.empty());
  EXPECT_EQ(store->index(a, 1000), index);
}

TEST_F(Notes, ALeaseOrPinUnderAnotherNameIsADamagedOne) {
  const auto lease = store->lease({a}, "a test");
  const auto leases = [&] { return read_leases(layout, WriterId::of_this_process().host, 0); };
  ASSERT_EQ(leases().size(), 1U);
  EXPECT_FALSE(leases().front().damaged);
  const fs::path moved = leases().front().file.native() + "7";
  fs::rename(leases().front().file, moved);
  ASSERT_EQ(leases().size(), 1U);
  EXPECT_TRUE(leases().front().damaged && leases().front().text.open);
  write_file(moved, encode_lease({"of an earlier SABATH", "", false, 1, {a}}));
  EXPECT_FALSE(leases().front().damaged);
  put_pin(*store, {a, "one", 1});
  put_pin(*store, {a, "two", 2});
  fs::rename(layout.pin(a, "one"), layout.pin(a, "two"));
  ASSERT_EQ(read_pins(*store).size(), 1U);
  EXPECT_EQ(read_pins(*store).front(), (Pin{a, "", 0})) << "it keeps, and its name is not believed";
}

TEST_F(Notes, WhatIsNoRegularFileIsPassedOver) {
  put_all();
  put("content");
  const std::string hex = sha256("strange").hex(), rest = hex.substr(2), fan = hex.substr(0, 2);
  const std::vector<fs::path> places = {directory / "leases" / "f+1",
                                        directory / "reservations" / "f+1",
                                        directory / "pins" / (hex + ".12"),
                                        directory / "used" / hex,
                                        directory / "facts" / hex,
                                        directory / "refs" / fan / (rest + ".json"),
                                        directory / "indexes" / fan / rest,
                                        directory / "alias" / "md5" / fan / hex.substr(2, 30),
                                        directory / "manifests" / fan / rest,
                                        directory / "verified" / "f.log",
                                        directory / "arrivals" / "f.log",
                                        directory / "checked" / "f.log",
                                        directory / "quarantine" / (hex + "+"),
                                        directory / "trash" / "f+1",
                                        directory / "records" / "f.jsonl",
                                        directory / "packs" / (hex + ".5"),
                                        directory / "packs" / (hex + ".50000")};
  const std::vector<std::function<void(const fs::path&)>> kinds = {
      [](const fs::path& at) { EXPECT_EQ(::mkfifo(at.c_str(), 0666), 0); },
      [](const fs::path& at) { fs::create_directory(at); },
      [](const fs::path& at) { fs::create_symlink("/dev/zero", at); },
      [](const fs::path& at) { fs::create_symlink(at, at); }};
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    for (const auto& place : places) {
      fs::create_directories(place.parent_path());
      kinds[kind](place);
      EXPECT_NO_THROW(static_cast<void>(read_leases(layout, WriterId::of_this_process().host, 0))) << place;
      EXPECT_NO_THROW(static_cast<void>(collect(*store, {}, {}))) << place << ", kind " << kind;
      EXPECT_NO_THROW(static_cast<void>(store->usage())) << place;
      EXPECT_NO_THROW(static_cast<void>(store->verify(nullptr, 1, {}))) << place << ", kind " << kind;
      fs::remove_all(place);
    }
  }
}

}  // namespace
}  // namespace sabath::test
