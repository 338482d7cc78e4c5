// Unpacking: what archives hold comes out as it went in, and what no honest archive holds is refused.
#include "fetch/archives/archive.h"

#include <gtest/gtest.h>

#include <map>

#include "archive_maker.h"
#include "fetch_bench.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

class ArchiveTest : public testing::Test {
 protected:
  // As the spool gives it: in pieces that end anywhere.
  Unpacked unpack(const std::string& bytes) {
    const ReadAt read = [&](std::uint64_t offset, std::span<std::byte> into) -> std::size_t {
      if (offset >= bytes.size()) return 0;
      const auto n = std::min({into.size(), bytes.size() - offset, std::size_t{10'007}});
      std::memcpy(into.data(), bytes.data() + offset, n);
      read_to_ = std::max<std::uint64_t>(read_to_, offset + n);
      return n;
    };
    return unpack_archive("a.tar", read, *bench_.store, bench_.space, bench_.stop.get_token());
  }

  std::optional<Failure> refusal(const std::string& bytes) {
    try {
      (void)unpack(bytes);
    } catch (const Error& error) {
      return error.failure();
    }
    return std::nullopt;
  }

  void expect_invalid(const std::string& bytes, const char* what, const char* said = "") {
    const auto failure = refusal(bytes);
    ASSERT_TRUE(failure) << what;
    EXPECT_EQ(failure->kind, FailureKind::invalid) << what << ": " << failure->message;
    EXPECT_NE(failure->message.find(said), std::string::npos) << what << ": " << failure->message;
    EXPECT_EQ(failure->message.find('\x1b'), std::string::npos) << what;
  }

  // path -> "f:content", "x:content", "d", "l:target"
  std::map<std::string, std::string> listed(const std::string& bytes) {
    Unpacked unpacked = unpack(bytes);
    bench_.store->publish(std::move(unpacked.objects));
    std::map<std::string, std::string> found;
    for (const auto& entry : unpacked.entries) {
      std::string text = "d";
      if (entry.type == EntryType::symlink) text = "l:" + entry.target;
      if (entry.type == EntryType::file || entry.type == EntryType::executable) {
        text = (entry.type == EntryType::file ? "f:" : "x:") + bench_.content(entry.tree.digest);
        EXPECT_TRUE(bench_.store->present(entry.tree.digest));
      }
      EXPECT_TRUE(found.emplace(entry.path.text(), text).second) << entry.path.text();
    }
    return found;
  }

  FetchBench bench_{1ULL << 30};
  std::uint64_t read_to_ = 0;
};

const std::vector<TarMember> honest = {{.name = "top", .type = '5', .mode = 0755},
                                       {.name = "top/empty"},
                                       {.name = "top/data.bin", .content = std::string(70'000, 'x')},
                                       {.name = "top/run.sh", .content = "#!/bin/sh\n", .mode = 0755},
                                       {.name = "top/link", .type = '2', .link = "data.bin"},
                                       {.name = "top/naïve-文件.txt", .content = "name"}};

const std::map<std::string, std::string> honest_listed = {{"top", "d"},
                                                          {"top/empty", "f:"},
                                                          {"top/data.bin", "f:" + std::string(70'000, 'x')},
                                                          {"top/run.sh", "x:#!/bin/sh\n"},
                                                          {"top/link", "l:data.bin"},
                                                          {"top/naïve-文件.txt", "f:name"}};

TEST_F(ArchiveTest, TarInEveryCompression) {
  for (const char* filter : {"", "gzip", "zstd", "xz", "bzip2"}) {
    EXPECT_EQ(listed(archive_of(honest, "pax", filter)), honest_listed) << filter;
  }
  EXPECT_EQ(listed(tar_of(honest)), honest_listed) << "names without a character set";
}

TEST_F(ArchiveTest, Zip) {
  auto found = listed(archive_of(honest, "zip", ""));
  EXPECT_EQ(found["top/data.bin"], honest_listed.at("top/data.bin"));
  EXPECT_EQ(found["top/naïve-文件.txt"], "f:name");
  EXPECT_EQ(found["top/run.sh"], "x:#!/bin/sh\n");
  EXPECT_EQ(found["top/link"], "l:data.bin");
}

TEST_F(ArchiveTest, ZipsWithoutContentOrEnd) {
  expect_invalid(archive_of({}, "zip", ""), "nothing in it: libarchive knows no such zip");
  expect_invalid("PK\3\4", "four bytes");
}

TEST_F(ArchiveTest, NamesAsTarWritesThem) {
  const auto found = listed(tar_of({{.name = "./", .type = '5'},
                                    {.name = "./a/", .type = '5'},
                                    {.name = "./a/f", .content = "1"},
                                    {.name = "./a/./g", .content = "2"},
                                    {.name = "b//h", .content = "3"}}));
  const std::map<std::string, std::string> expected = {{"a", "d"}, {"a/f", "f:1"}, {"a/g", "f:2"}, {"b/h", "f:3"}};
  EXPECT_EQ(found, expected);
}

TEST_F(ArchiveTest, HardLinksAreTheFileThatWasBefore) {
  const auto found = listed(tar_of({{.name = "f", .content = "same", .mode = 0755},
                                    {.name = "g", .type = '1', .link = "f"},
                                    {.name = "h", .type = '1', .link = "./g"},
                                    {.name = "f", .type = '1', .link = "f"}}));  // GNU tar, given a name twice
  const std::map<std::string, std::string> expected = {{"f", "x:same"}, {"g", "x:same"}, {"h", "x:same"}};
  EXPECT_EQ(found, expected);
}

// Two names of one symlink, as `cp -al` makes them.
TEST_F(ArchiveTest, AHardLinkToASymlinkIsASecondOne) {
  const auto found =
      listed(tar_of({{.name = "d/l", .type = '2', .link = "f"}, {.name = "d/m", .type = '1', .link = "d/l"}}));
  const std::map<std::string, std::string> expected = {{"d/l", "l:f"}, {"d/m", "l:f"}};
  EXPECT_EQ(found, expected);
  expect_invalid(tar_of({{.name = "d/l", .type = '2', .link = "../f"}, {.name = "m", .type = '1', .link = "d/l"}}),
                 "what stays inside there leaves from here", "leaves it");
  expect_invalid(tar_of({{.name = "d", .type = '5'}, {.name = "m", .type = '1', .link = "d"}}), "a directory",
                 "directory");
}

// `cat a.tar b.tar`, and the same of what was compressed one by one, or together.
TEST_F(ArchiveTest, JoinedTarsAreReadOn) {
  const std::string content = seeded_bytes(3, 0, 200'000), zeros(30'000 / 512 * 512, '\0');
  const std::string one = tar_of({{.name = "a", .content = content}}), two = tar_of({{.name = "d/b", .content = "2"}});
  const std::string open = tar_member({.name = "c", .content = "3"});  // without an end mark
  const std::map<std::string, std::string> expected = {{"a", "f:" + content}, {"d/b", "f:2"}, {"c", "f:3"}};
  EXPECT_EQ(listed(one + two + open), expected);
  EXPECT_EQ(listed(tar_of({}) + zeros + one + zeros + two + zeros + open + std::string(700, '\0')), expected);
  for (const char* filter : {"gzip", "zstd", "xz", "bzip2"}) {
    EXPECT_EQ(listed(compressed(one, filter) + compressed(two, filter) + compressed(open, filter)), expected) << filter;
    EXPECT_EQ(listed(compressed(one + two + open, filter)), expected) << filter;
  }
  EXPECT_EQ(listed(one + two + open + one), expected) << "one of them twice";
}

// `tar -r` and `tar -u` put what is newer at the end.
TEST_F(ArchiveTest, OfANameThatATarHoldsTwiceTheLaterCounts) {
  const std::string large = seeded_bytes(5, 0, 300'000);
  for (const auto& [older, newer] :
       {std::pair<std::string, std::string>{"old", "new"}, {large, "new"}, {"old", large}}) {
    std::string tar = tar_member({.name = "a", .content = older}) + tar_member({.name = "b", .content = "b"}) +
                      tar_member({.name = "h", .type = '1', .link = "a"});           // to the older one
    for (int i = 0; i < 300; ++i) tar += tar_member({.name = "m", .content = "x"});  // many are packed
    const auto found = listed(tar + tar_member({.name = "./a", .content = newer, .mode = 0755}) +
                              tar_of({{.name = "b", .type = '2', .link = "a"}}));
    const std::map<std::string, std::string> expected = {
        {"a", "x:" + newer}, {"h", "f:" + older}, {"b", "l:a"}, {"m", "f:x"}};
    EXPECT_EQ(found, expected);
  }
}

TEST_F(ArchiveTest, WhatStandsBehindTheEndIsNotPassedOver) {
  const std::string tar = tar_of({{.name = "a", .content = "1"}});
  for (const std::string& rest : {std::string("x"), std::string(700, 'x'), std::string(1000, '\0') + "x"}) {
    expect_invalid(tar + rest, "plain", "behind its end");
    for (const char* filter : {"gzip", "zstd", "xz", "bzip2"}) {
      expect_invalid(compressed(tar + rest, filter), filter, "behind its end");
      expect_invalid(compressed(tar, filter) + rest, filter);
      expect_invalid(compressed(tar, filter) + compressed(rest, filter), filter, "behind its end");
    }
  }
  for (const char* filter : {"gzip", "bzip2"})  // of a tape's blocks; the others know no such padding
    EXPECT_EQ(listed(compressed(tar, filter) + std::string(5000, '\0')).size(), 1U) << filter;
  const std::string zip = zip_of({{.name = "a", .content = "1"}}), other = zip_of({{.name = "b", .content = "2"}});
  EXPECT_EQ(listed(zip + std::string(100, '\0')).size(), 1U);
  expect_invalid(zip + "something", "zip", "behind its end");
  expect_invalid(zip + other, "joined zips", "joined to it");
  expect_invalid(zip + zip, "a zip twice", "joined to it");
}

TEST_F(ArchiveTest, NamesAreTheArchivesBytes) {
  const std::string decomposed = "cafe\u0301/u\u0308ber", composed = "caf\u00e9/\u00fcber", link = "cafe\u0301/l";
  const std::map<std::string, std::string> expected = {
      {decomposed, "f:1"}, {composed, "f:2"}, {link, "l:u\u0308ber"}, {"cafe\u0301/h", "f:1"}};
  const std::string ustar = tar_of({{.name = decomposed, .content = "1"},
                                    {.name = composed, .content = "2"},
                                    {.name = link, .type = '2', .link = "u\u0308ber"},
                                    {.name = "cafe\u0301/h", .type = '1', .link = decomposed}});
  EXPECT_EQ(listed(ustar), expected);
  const auto both = listed(pax("path", decomposed) + tar_member({.name = "x", .content = "1"}) + pax("path", composed) +
                           tar_member({.name = "x", .content = "2"}) + pax("linkpath", "u\u0308ber") +
                           tar_member({.name = link, .type = '2', .link = "x"}) + pax("linkpath", decomposed) +
                           tar_member({.name = "cafe\u0301/h", .type = '1', .link = "x"}));
  EXPECT_EQ(both, expected);
  auto zipped = expected;
  zipped.erase("cafe\u0301/h");
  EXPECT_EQ(listed(zip_of({{.name = decomposed, .content = "1"},
                           {.name = composed, .content = "2"},
                           {.name = link, .type = '2', .link = "u\u0308ber"}})),
            zipped);
}

TEST_F(ArchiveTest, AZipMayBeginWithTheMarkerOfOneThatWasToBeSplit) {
  const std::map<std::string, std::string> expected = {{"a", "f:1"}};
  for (const char* marker : {"PK00", "PK\7\10"})
    EXPECT_EQ(listed(zip_of({{.name = "a", .content = "1"}}, marker)), expected);
  // A tar whose first name begins so is a tar.
  const std::map<std::string, std::string> tar = {{"PK00.bin", "f:1"}, {"BZh9", "f:2"}};
  EXPECT_EQ(listed(tar_of({{.name = "PK00.bin", .content = "1"}, {.name = "BZh9", .content = "2"}})), tar);
  EXPECT_EQ(listed(tar_of({{.name = "BZh9", .content = "2"}, {.name = "PK00.bin", .content = "1"}})), tar);
}

TEST_F(ArchiveTest, SparseFilesHaveTheirHoles) {
  const auto found = listed(sparse_tar("s", 5000, std::string(512, 'd'), 9000));
  EXPECT_EQ(found.at("s"), "f:" + std::string(5000, '\0') + std::string(512, 'd') + std::string(9000 - 5512, '\0'));
}

TEST_F(ArchiveTest, AnEmptyArchiveIsAnArchive) { EXPECT_TRUE(listed(tar_of({})).empty()); }

TEST_F(ArchiveTest, TenThousandEntries) {
  std::vector<TarMember> members;
  for (int i = 0; i < 10'000; ++i) members.push_back({.name = "d/" + std::to_string(i), .content = std::to_string(i)});
  const Unpacked unpacked = unpack(tar_of(members));
  EXPECT_EQ(unpacked.entries.size(), 10'000U);
  EXPECT_EQ(unpacked.entries[1234].tree.digest, tree_of("1234").digest);
}

// Many small files are hashed in groups: each has its own content all the same, and so has a link to one of them.
TEST_F(ArchiveTest, OfManyEachHasItsOwnContent) {
  std::vector<TarMember> members;
  for (std::uint64_t i = 0; i < 1300; ++i) {
    const std::uint64_t size = i % 3 == 0 ? 5000 : i % 100 == 1 ? leaf_size_bytes * (i / 100) : i * 37 % 3000;
    members.push_back({.name = std::to_string(i), .content = bytes_of(size, i), .mode = i % 5 == 0 ? 0755U : 0644U});
    if (i % 50 == 0) members.push_back({.name = "link" + std::to_string(i), .type = '1', .link = std::to_string(i)});
  }
  Unpacked unpacked = unpack(tar_of(members));
  bench_.store->publish(std::move(unpacked.objects));
  ASSERT_TRUE(unpacked.packs);
  unpacked.packs->publish_all();
  ASSERT_EQ(unpacked.entries.size(), members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& entry = unpacked.entries[i];
    const TarMember& member = members[members[i].type == '1' ? i - 1 : i];
    EXPECT_EQ(entry.path.text(), members[i].name);
    EXPECT_EQ(entry.type, member.mode == 0755U ? EntryType::executable : EntryType::file) << i;
    ASSERT_EQ(entry.tree.digest, tree_of(member.content).digest) << i;
    EXPECT_EQ(entry.tree.chunks, tree_of(member.content).chunks) << i;
    EXPECT_TRUE(bench_.store->present(entry.tree.digest)) << i;
  }
}

TEST_F(ArchiveTest, NamesThatLeave) {
  for (const char* name : {"../f", "a/../../f", "/etc/f", "..", "a/..", "/", "//f", "./../f"}) {
    expect_invalid(tar_of({{.name = name, .content = "x"}}), name);
    expect_invalid(tar_of({{.name = name, .type = '5'}}), name);
  }
  expect_invalid(tar_of({{.name = "esc\x1b[31m", .content = "x"}}), "an escape sequence");
  expect_invalid(tar_of({{.name = "not \xff\xfe utf-8", .content = "x"}}), "no text");
  expect_invalid(tar_of({{.name = "new\nline", .content = "x"}}), "a line end");
  expect_invalid(archive_of({{.name = "../f", .content = "x"}}, "zip", ""), "zip");
}

TEST_F(ArchiveTest, LinksThatLeave) {
  for (const char* target : {"/etc/passwd", "..", "../x", "a/../../x", ""}) {
    expect_invalid(tar_of({{.name = "l", .type = '2', .link = target}}), target);
  }
  EXPECT_FALSE(refusal(tar_of({{.name = "d/l", .type = '2', .link = "../x"}})));
  for (const char* target : {"nothing", "later", "../x", "/etc/passwd", "dir"}) {
    expect_invalid(tar_of({{.name = "dir", .type = '5'},
                           {.name = "l", .type = '1', .link = target},
                           {.name = "later", .content = "x"}}),
                   target);
  }
}

TEST_F(ArchiveTest, NothingIsWrittenThroughASymlink) {
  expect_invalid(tar_of({{.name = "d", .type = '2', .link = "elsewhere"}, {.name = "d/f", .content = "x"}}), "file");
  expect_invalid(tar_of({{.name = "d/f", .content = "x"}, {.name = "d", .type = '2', .link = "elsewhere"}}), "after");
}

TEST_F(ArchiveTest, ANameTwice) {
  expect_invalid(zip_of({{.name = "f", .content = "1"}, {.name = "f", .content = "2"}}), "a zip", "twice");
  expect_invalid(tar_of({{.name = "f", .content = "1"}, {.name = "f", .type = '5'}}), "directory", "twice");
  expect_invalid(tar_of({{.name = "f", .content = "1"}, {.name = "f/g", .content = "2"}}), "below a file");
  EXPECT_FALSE(refusal(tar_of({{.name = "d", .type = '5'}, {.name = "d/", .type = '5'}}))) << "directories may";
}

TEST_F(ArchiveTest, WhatIsNoFile) {
  expect_invalid(tar_of({{.name = "dev", .type = '3'}}), "a device");
  expect_invalid(tar_of({{.name = "dev", .type = '4'}}), "a block device");
  expect_invalid(tar_of({{.name = "pipe", .type = '6'}}), "a FIFO");
}

TEST_F(ArchiveTest, Truncated) {
  const std::string content = seeded_bytes(3, 0, 200'000);
  const std::vector<TarMember> members = {{.name = "a", .content = content}, {.name = "b", .content = content}};
  const std::string tar = tar_of(members);
  for (const std::size_t size : {std::size_t{100}, std::size_t{600}, tar.size() / 2, tar.size() - tar_end_size - 600}) {
    expect_invalid(tar.substr(0, size), "tar");
  }
  for (const char* filter : {"gzip", "zstd", "xz", "bzip2"}) {
    const std::string packed = archive_of(members, "pax", filter);
    expect_invalid(packed.substr(0, packed.size() / 2), filter);
    expect_invalid(packed.substr(0, 20), filter);
  }
  const std::string zip = archive_of(members, "zip", "");
  expect_invalid(zip.substr(0, zip.size() / 2), "zip");
}

TEST_F(ArchiveTest, AFlippedByte) {
  const std::string content = seeded_bytes(3, 0, 200'000);
  for (const char* filter : {"gzip", "zstd", "xz", "bzip2"}) {
    std::string packed = archive_of({{.name = "a", .content = content}}, "pax", filter);
    packed[packed.size() / 2] ^= 0x55;
    const auto failure = refusal(packed);
    // libarchive skips gzip's checksum, and its zstd has none: there the recipe's checksum or the manifest must say it.
    if ((std::string(filter) == "gzip" || std::string(filter) == "zstd") && !failure) continue;
    expect_invalid(packed, filter);
  }
  std::string zip = archive_of({{.name = "a", .content = content}}, "zip", "");
  zip[zip.size() / 2] ^= 0x55;
  expect_invalid(zip, "zip");
}

TEST_F(ArchiveTest, WhatIsNoArchive) {
  expect_invalid("", "nothing at all");
  expect_invalid("just some text", "text");
  expect_invalid(seeded_bytes(1, 0, 100'000), "noise");
  expect_invalid(compressed("just some text", "gzip"), "one compressed file");
  expect_invalid("#!/bin/sh\nbegin 644 f\n", "uuencode: no external or exotic filter");
}

TEST_F(ArchiveTest, ABombIsStoppedByItsRatioOrTheSpace) {
  const std::string bomb =
      compressed(tar_member({.name = "z", .size = 64ULL << 40}) + std::string(64 << 20, '\0'), "zstd");
  ASSERT_LT(bomb.size(), 20'000U);
  FetchBench small(10 << 20);
  const ReadAt read = [&](std::uint64_t offset, std::span<std::byte> into) -> std::size_t {
    if (offset >= bomb.size()) return 0;
    const auto n = std::min<std::size_t>(into.size(), bomb.size() - offset);
    std::memcpy(into.data(), bomb.data() + offset, n);
    return n;
  };
  try {
    (void)unpack_archive("bomb", read, *small.store, small.space, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::space) << error.failure().message;
  }
  small.space.reserve(10 << 20, 0, "all of it was given back");
}

TEST_F(ArchiveTest, AHoleOfTerabytesIsRefusedBeforeItIsWritten) {
  expect_invalid(sparse_tar("s", 1ULL << 42, "end", (1ULL << 42) + 3), "before the data", "times");
  expect_invalid(sparse_tar("s", 0, "begin", 1ULL << 42), "after it", "times");
}

TEST_F(ArchiveTest, TheWholeSourceIsRead) {
  const std::string tar = tar_of({{.name = "f", .content = "x"}}) + std::string(300'000, '\0');
  (void)unpack(tar);
  EXPECT_EQ(read_to_, tar.size());
}

TEST_F(ArchiveTest, FailuresOfTheSourcePassUnchanged) {
  const std::string tar = tar_of({{.name = "f", .content = std::string(100'000, 'x')}});
  for (const auto kind : {FailureKind::changed, FailureKind::interrupted, FailureKind::storage}) {
    const ReadAt read = [&](std::uint64_t offset, std::span<std::byte> into) -> std::size_t {
      if (offset > 0) throw Error(kind, "from the source");
      const auto n = std::min<std::size_t>(into.size(), 1000);
      std::memcpy(into.data(), tar.data(), n);
      return n;
    };
    try {
      (void)unpack_archive("a", read, *bench_.store, bench_.space, {});
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, kind);
      EXPECT_EQ(error.failure().message, "from the source");
    }
  }
}

TEST_F(ArchiveTest, AStopRequestEndsIt) {
  bench_.stop.request_stop();
  const auto failure = refusal(tar_of({{.name = "f", .content = "x"}}));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, FailureKind::interrupted);
}

TEST_F(ArchiveTest, WhatWasRefusedLeavesNothing) {
  (void)refusal(tar_of({{.name = "f", .content = "kept nowhere"}, {.name = "../f", .content = "x"}}));
  EXPECT_FALSE(bench_.store->present(tree_of("kept nowhere").digest));
  EXPECT_EQ(bench_.store->usage().objects, 0U);
}

}  // namespace
}  // namespace sabath::test
