// Parts of an asset: what headers say, what an index keeps, how much is read for it, and what patterns choose.
#include "fetch/remote_tar/remote_tar.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "archive_maker.h"
#include "base/hash.h"
#include "fetch/decide/selection.h"
#include "fetch/hosts/source_key.h"
#include "fetch/remote_tar/remote_tar_members.h"
#include "fetch_bench.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

constexpr const char* tar_url = "http://a.example/a.tar";

std::string content_of(int number, std::uint64_t size) {
  return seeded_bytes(static_cast<std::uint64_t>(number) + 1, 0, size);
}

class Memory {
 public:
  explicit Memory(const std::string& bytes) : bytes_(bytes) {}
  TarRead reader() {
    return [this](std::uint64_t offset, std::size_t length) {
      EXPECT_LE(offset + length, bytes_.size());
      return std::as_bytes(std::span(bytes_)).subspan(offset, length);
    };
  }
  TarIndex walk() {
    TarIndex index("a.tar", bytes_.size(), {"\"1\"", ""});
    while (const auto member = read_tar_member("a.tar", reader(), index.next(), bytes_.size())) index.add(*member);
    index.end();
    return index;
  }

 private:
  const std::string& bytes_;
};

std::optional<Failure> refusal(const std::string& tar) {
  try {
    (void)Memory(tar).walk();
  } catch (const Error& error) {
    return error.failure();
  }
  return std::nullopt;
}

void expect_invalid(const std::string& tar, const char* said) {
  const auto failure = refusal(tar);
  ASSERT_TRUE(failure) << said;
  EXPECT_EQ(failure->kind, FailureKind::invalid) << failure->message;
  EXPECT_NE(failure->message.find(said), std::string::npos) << failure->message;
}

std::vector<TarMember> small_members() {
  std::vector<TarMember> members;
  for (int i = 0; i < 40; ++i) members.push_back({.name = "d/" + std::to_string(i), .content = content_of(i, 5000)});
  return members;
}

TEST(RemoteTarHeaders, NamesSizesAndPlaces) {
  const std::string long_name = "d/" + std::string(200, 'x');
  const std::string tar = tar_member({.name = "./a", .content = "one", .mode = 0755}) + pax("path", "d/päx") +
                          tar_member({.name = "short", .content = std::string(513, 'p')}) +
                          tar_member({.name = "././@LongLink", .content = long_name, .type = 'L'}) +
                          tar_member({.name = "cut", .content = "three"}) + tar_member({.name = "e/", .type = '5'}) +
                          tar_member({.name = "h", .type = '1', .link = "a"}) +
                          tar_member({.name = "l", .type = '2', .link = "d/x"}) + std::string(tar_end_size, '\0');
  const TarIndex index = Memory(tar).walk();
  const auto& entries = index.entries();
  ASSERT_EQ(entries.size(), 6U);
  EXPECT_EQ(entries[0].path.text(), "a");
  EXPECT_EQ(entries[0].type, EntryType::executable);
  EXPECT_EQ(entries[1].path.text(), "d/päx");
  EXPECT_EQ(entries[2].path.text(), long_name);
  EXPECT_EQ(tar.substr(entries[2].offset, entries[2].size_bytes), "three");
  EXPECT_EQ(entries[3].type, EntryType::directory);
  EXPECT_EQ(entries[4].offset, entries[0].offset);  // a hard link is its file
  EXPECT_EQ(entries[5].target, "d/x");
  EXPECT_TRUE(index.complete());
}

TEST(RemoteTarHeaders, OfANameTwiceTheLaterCounts) {
  const std::string tar = tar_of({{.name = "a", .content = "old"},
                                  {.name = "b", .content = "b"},
                                  {.name = "h", .type = '1', .link = "a"},
                                  {.name = "./a", .content = "newer", .mode = 0755},
                                  {.name = "b", .type = '2', .link = "a"}});
  const TarIndex walked = Memory(tar).walk();
  const auto index = TarIndex::try_decode("a.tar", walked.encode());
  ASSERT_TRUE(index);
  const auto& entries = index->entries();
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].type, EntryType::executable);
  EXPECT_EQ(tar.substr(entries[0].offset, entries[0].size_bytes), "newer");
  EXPECT_EQ(entries[1].type, EntryType::symlink);
  EXPECT_EQ(tar.substr(entries[2].offset, entries[2].size_bytes), "old");  // a link to what was there then
}

TEST(RemoteTarHeaders, EveryWriterOfTheTestsAgreesWithTheUnpacker) {
  for (const char* format : {"pax", "ustar"}) {
    const std::string tar = archive_of(small_members(), format, "");
    const auto index = Memory(tar).walk();
    ASSERT_EQ(index.entries().size(), 40U) << format;
    for (int i = 0; i < 40; ++i) {
      const auto& entry = index.entries()[static_cast<std::size_t>(i)];
      EXPECT_EQ(tar.substr(entry.offset, entry.size_bytes), content_of(i, 5000)) << format << i;
    }
  }
}

TEST(RemoteTarHeaders, SizesBeyondOctal) {
  const std::uint64_t large = 9ULL << 33;
  const std::string header = tar_member({.name = "a", .size = large});
  const TarRead read = [&](std::uint64_t offset, std::size_t length) {
    return std::as_bytes(std::span(header)).subspan(offset, length);
  };
  const auto member = read_tar_member("a.tar", read, 0, large + tar_block_size);
  ASSERT_TRUE(member);
  EXPECT_EQ(member->size_bytes, large);
  const std::string by_pax = pax("size", std::to_string(large)) + tar_member({.name = "a", .size = 0});
  const TarRead again = [&](std::uint64_t offset, std::size_t length) {
    return std::as_bytes(std::span(by_pax)).subspan(offset, length);
  };
  EXPECT_EQ(read_tar_member("a.tar", again, 0, large + by_pax.size())->size_bytes, large);
}

TEST(RemoteTarHeaders, WhatNoHonestArchiveHolds) {
  const std::string good = tar_of({{.name = "a", .content = "one"}});
  std::string flipped = good;
  flipped[1] ^= 1;
  expect_invalid(flipped, "no plain tar");
  expect_invalid(good.substr(0, 1024) + std::string(100, 'x'), "cut off");
  expect_invalid(good.substr(0, 514), "cut off");
  expect_invalid(tar_of({{.name = "../a"}}), "unsafe path");
  expect_invalid(tar_of({{.name = "/a"}}), "unsafe path");
  expect_invalid(tar_of({{.name = "a"}, {.name = "a", .type = '5'}}), "twice");
  expect_invalid(tar_of({{.name = "a"}, {.name = "a/b"}}), "below what is no directory");
  expect_invalid(tar_of({{.name = "l", .type = '2', .link = "../x"}}), "symlink that leaves");
  expect_invalid(tar_of({{.name = "h", .type = '1', .link = "later"}}), "hard link");
  expect_invalid(tar_of({{.name = "dev", .type = '3'}}), "neither a file");
  expect_invalid(sparse_tar("s", 4096, "data", 8192), "sparse");
  expect_invalid(pax("GNU.sparse.major", "1") + good, "sparse");
  expect_invalid(pax("size", "1x") + good, "size");
  expect_invalid(pax("path", "b", 'g') + good, "global");
  expect_invalid(tar_member({.name = "p", .content = "99 path=a\n", .type = 'x'}) + good, "pax");
  expect_invalid(tar_member({.name = "p", .content = "x", .type = 'L'}), "extended header");
  expect_invalid(tar_member({.name = "big", .size = UINT64_MAX / 2}), "cut off");
}

// `cat a.tar b.tar`, with the padding of blocked records between them.
TEST(RemoteTarHeaders, AJoinedTarGoesOn) {
  const std::string first = tar_of({{.name = "a", .content = "one"}}) + std::string(70'000 / 512 * 512, '\0');
  const std::string tar = first + tar_of({{.name = "b", .content = "two"}}) + std::string(9000, '\0');
  const TarIndex index = Memory(tar).walk();
  ASSERT_EQ(index.entries().size(), 2U);
  EXPECT_EQ(tar.substr(index.entries()[1].offset, 3), "two");
  EXPECT_EQ(index.next(), tar.size());
  expect_invalid(first + "something else", "cut off");
  expect_invalid(first + std::string(512, 'x'), "checksum");
  expect_invalid(pax("path", "c") + std::string(1024, '\0') + tar, "extended header");
}

TEST(RemoteTarHeaders, AHardLinkToASymlinkIsASecondOne) {
  const std::string tar = tar_of({{.name = "l", .type = '2', .link = "f"}, {.name = "m", .type = '1', .link = "l"}});
  const auto entries = Memory(tar).walk().entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[1].type, EntryType::symlink);
  EXPECT_EQ(entries[1].target, "f");
  expect_invalid(tar_of({{.name = "d/l", .type = '2', .link = "../f"}, {.name = "m", .type = '1', .link = "d/l"}}),
                 "symlink that leaves");
}

// 0.1 ended at the first end mark, and called its index complete.
TEST(TarIndexTest, OneOf01IsWalkedOnBehindTheEndMark) {
  const std::string first = tar_of({{.name = "a", .content = "one"}});
  const std::string tar = first + tar_of({{.name = "b", .content = "two"}});
  TarIndex before("a.tar", tar.size(), {});
  before.add(*read_tar_member("a.tar", Memory(tar).reader(), 0, tar.size()));
  constexpr std::size_t sum_size = 8, complete_at = sum_size + 8 + 8 + 8;
  std::string bytes = before.encode();
  bytes[complete_at] = 1;
  const std::uint64_t sum = xxh3_64(bytes.substr(sum_size));
  std::memcpy(bytes.data(), &sum, sum_size);  // little-endian machines
  const auto index = TarIndex::try_decode("a.tar", bytes);
  ASSERT_TRUE(index);
  EXPECT_FALSE(index->complete());
  EXPECT_EQ(index->next(), 1024U);
  EXPECT_EQ(index->entries().size(), 1U);
}

TEST(TarIndexTest, IsReadBackAsItWasAndNotOtherwise) {
  const std::string tar = tar_of({{.name = "d/a", .content = "one"}, {.name = "d/l", .type = '2', .link = "a"}});
  const std::string bytes = Memory(tar).walk().encode();
  const auto again = TarIndex::try_decode("a.tar", bytes);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->encode(), bytes);
  EXPECT_EQ(again->entries()[1].target, "a");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(TarIndex::try_decode("a.tar", bytes.substr(0, i)));
    std::string wrong = bytes;
    wrong[i] ^= 1;
    EXPECT_FALSE(TarIndex::try_decode("a.tar", wrong)) << i;
  }
  std::string hostile = bytes.substr(8);
  hostile.replace(hostile.find("d/a"), 3, "../");
  const std::uint64_t sum = xxh3_64(hostile);
  std::string sealed(sizeof(sum), '\0');
  std::memcpy(sealed.data(), &sum, sizeof(sum));  // little-endian machines
  EXPECT_FALSE(TarIndex::try_decode("a.tar", sealed + hostile));
}

class RemoteTarTest : public testing::Test {
 protected:
  RemoteTar::Source source() const {
    return {"a.tar", Url::parse(tar_url), sha256(std::string_view(tar_url)), {}, false, {}};
  }
  static bool all(const TarEntry&) { return true; }
  FetchBench bench_;
};

TEST_F(RemoteTarTest, AWalkGoesOnWhereTheLastEnded) {
  std::vector<TarMember> members;
  for (int i = 0; i < 20; ++i)
    members.push_back({.name = std::to_string(i), .content = content_of(i, 800'000 + 999U * static_cast<unsigned>(i))});
  bench_.origin.put(tar_url, {.bytes = tar_of(members), .etag = "\"1\""});
  FetchContext context = bench_.context();
  EXPECT_EQ(RemoteTar(context, source()).choose(all, 3).size(), 3U);
  const auto first = bench_.origin.reads(tar_url).size();
  EXPECT_LE(bench_.origin.sent(tar_url), 32U * 1024);
  EXPECT_EQ(RemoteTar(context, source()).choose(all, 3).size(), 3U);
  EXPECT_EQ(bench_.origin.reads(tar_url).size(), first);  // the index says it
  EXPECT_EQ(RemoteTar(context, source()).choose(all, std::nullopt).size(), 20U);
  const auto second = bench_.origin.reads(tar_url).size();
  EXPECT_GE(bench_.origin.reads(tar_url)[first].offset, 3U * 800'000);  // not from the start
  EXPECT_EQ(RemoteTar(context, source()).choose(all, std::nullopt).size(), 20U);
  EXPECT_EQ(bench_.origin.reads(tar_url).size(), second);
}

// A name that no file may have is refused by those who ask for it, also after a walk that passed it.
TEST_F(RemoteTarTest, ANameThatWasNotAskedForDoesNoHarm) {
  bench_.origin.put(tar_url,
                    {.bytes = tar_of({{.name = "a.h5"}, {.name = "caf\xe9.nc"}, {.name = "b.h5"}}), .etag = "\"1\""});
  FetchContext context = bench_.context();
  const auto ends = [](const std::string& end) {
    return [end](const std::string& name) { return name.ends_with(end); };
  };
  const auto choose = [&](const std::string& end) {
    RemoteTar::Source from = source();
    from.wants_name = ends(end);
    return RemoteTar(context, from).choose([&](const TarEntry& e) { return e.path.text().ends_with(end); }, {}).size();
  };
  EXPECT_EQ(choose(".h5"), 2U);
  EXPECT_EQ(choose(".h5"), 2U);
  EXPECT_THROW((void)choose(".nc"), Error);
  EXPECT_THROW((void)RemoteTar(context, source()).choose(all, {}), Error);
}

TEST_F(RemoteTarTest, EvenMembersAreReadAhead) {
  std::vector<TarMember> members;
  for (int i = 0; i < 100; ++i) members.push_back({.name = std::to_string(i), .content = std::string(300'000, 'x')});
  bench_.origin.put(tar_url, {.bytes = tar_of(members), .etag = "\"1\""});
  FetchContext context = bench_.context();
  EXPECT_EQ(RemoteTar(context, source()).choose(all, std::nullopt).size(), 100U);
  EXPECT_LE(bench_.origin.sent(tar_url), 110U * 4096 + 16384);
}

TEST_F(RemoteTarTest, HiccupsAndOtherVersions) {
  const std::string tar = tar_of(small_members());
  bench_.origin.put(tar_url, {.bytes = tar, .etag = "\"1\"", .break_after = 700, .break_times = 2});
  FetchContext context = bench_.context();
  EXPECT_EQ(RemoteTar(context, source()).choose(all, 2).size(), 2U);
  bench_.origin.put(tar_url, {.bytes = tar, .etag = "\"2\""});
  try {
    (void)RemoteTar(context, source()).choose(all, std::nullopt);
    FAIL() << "two versions in one index";
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::changed);
  }
}

TEST(RemoteTarMembers, NeighboursComeTogether) {
  std::vector<Member> members;
  const auto add = [&](std::uint64_t offset, std::uint64_t size, bool there = false) {
    Member member;
    member.job.offset = offset;
    member.job.size_bytes = size;
    member.there = there;
    members.push_back(std::move(member));
  };
  add(3'000'000, 1'000'000);
  add(512, 1'000'000);
  add(1'001'024, 1'000'000);
  add(2'001'536, 900'000, true);
  add(10'000'000, 50'000'000);
  add(60'000'512, 10);
  const std::vector<std::vector<std::size_t>> groups{{1, 2}, {0}, {4}, {5}};
  EXPECT_EQ(group_members(members), groups);
}

TEST(RemoteTarWindows, FollowWhatWasMet) {
  constexpr std::size_t kib = 1024;
  EXPECT_EQ(next_window({}), (WindowPlan{0, 16 * kib}));
  // Large members: only a header, at its place.
  EXPECT_EQ(next_window({.position = 9000000, .read_to = 16 * kib, .last_length = 16 * kib, .stride = 9000000}),
            (WindowPlan{9000000, 4 * kib}));
  // Small ones that are wanted: a stream that grows, but not beyond what is wanted.
  WalkState small{.position = 66048, .read_to = 16 * kib, .last_length = 16 * kib, .stride = 66048, .stream = true};
  EXPECT_EQ(next_window(small), (WindowPlan{16 * kib, 64 * kib}));
  small.last_length = 4096 * kib;
  small.wanted = 2;
  EXPECT_LE(next_window(small).length, 2 * 66048 + 66048 + 4 * kib);
  // Tiny ones, not wanted: windows that hold many headers.
  EXPECT_EQ(next_window({.position = 16 * kib, .read_to = 16 * kib, .last_length = 16 * kib, .stride = 1536}),
            (WindowPlan{16 * kib, 64 * kib}));
}

TEST(SelectionTest, APartHasKeysOfItsOwn) {
  Recipe recipe;
  Fragment& fragment = recipe.fragments.emplace_back();
  fragment.type = FragmentType::archive;
  fragment.urls = {Url::parse(tar_url)};
  const Selection four{4, {}}, some{std::nullopt, {"a/*"}};
  const Sha256 pin = sha256(std::string_view("pin"));
  const std::set<Sha256> keys{source_key(recipe, {}),       source_key(recipe, {}, four),
                              source_key(recipe, {}, some), source_key(recipe, {}, four, pin),
                              source_key(fragment, {}),     source_key(fragment, {}, four)};
  EXPECT_EQ(keys.size(), 6U);
  FileJob one;
  one.urls = {Url::parse(tar_url)};
  one.size_bytes = 7;
  FileJob moved = one, other = one;
  moved.offset = other.offset = 512;
  other.version.etag = "\"2\"";
  EXPECT_NE(source_key(one), source_key(moved));
  EXPECT_NE(source_key(moved), source_key(other));
  fragment.type = FragmentType::file;  // whole, or not there
  EXPECT_EQ(source_key(fragment, {}), source_key(fragment, {}, four));
}

TEST(SelectionTest, Patterns) {
  struct Case {
    const char *pattern, *path;
    bool matches;
  };
  for (const Case& c : std::vector<Case>{{"a/*.h5", "a/b.h5", true},
                                         {"a/*.h5", "a/b/c.h5", false},
                                         {"*.h5", "a/b.h5", false},
                                         {"**/*.h5", "b.h5", true},
                                         {"**/*.h5", "a/b/c.h5", true},
                                         {"a/**", "a/b/c", true},
                                         {"a/**", "b/a/c", false},
                                         {"a/**/d/*", "a/d/b/d/c", true},
                                         {"**/a/**/b", "x/a/y/a/z/b", true},
                                         {"**/a/**/b", "x/y/z/b", false},
                                         {"[ab]?", "b1", true},
                                         {"a", "a/b", false}}) {
    EXPECT_EQ(glob_matches(c.pattern, c.path), c.matches) << c.pattern << " " << c.path;
  }
  for (const char* nothing : {"", "/a", "a//b", "../a", "a/", "!", "!/a", "!../a"}) {
    EXPECT_THROW(check_selection({std::nullopt, {nothing}}), Error) << nothing;
  }
  EXPECT_THROW(check_selection({0, {}}), Error);
  EXPECT_NO_THROW(check_selection({7, {"a/**", "!a/b"}}));
  const Selection without{std::nullopt, {"a/*", "!**/*.bin", "b"}};
  for (const auto& [path, taken] :
       {std::pair{"a/x", true}, {"a/x.bin", false}, {"b", true}, {"c", false}, {"!b", false}}) {
    EXPECT_EQ(selects(without, std::string_view(path)), taken) << path;
  }
  EXPECT_TRUE(selects({std::nullopt, {"!a"}}, std::string_view("b")));
  EXPECT_FALSE(selects({std::nullopt, {"!a"}}, std::string_view("a")));
  EXPECT_TRUE(selects({std::nullopt, {"\\!a"}}, std::string_view("!a")));
}

}  // namespace
}  // namespace sabath::test
