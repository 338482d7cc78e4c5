#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "store_fixture.h"

namespace sabath::test {
namespace {

using Objects = StoreFixture;

TEST_F(Objects, AreReadOnlyAndNamedByContent) {
  for (const std::uint64_t size : {0ULL, 1ULL, 65'536ULL, 65'537ULL, 4'194'304ULL, 4'194'305ULL}) {
    const std::string bytes = seeded_bytes(1, 0, size);
    const FileTree tree = put(bytes);
    EXPECT_EQ(tree.digest, tree_of(bytes).digest);
    EXPECT_TRUE(store->present(tree.digest));
    EXPECT_EQ(object(tree.digest), bytes);
    EXPECT_EQ(std::filesystem::status(store->object_path(tree.digest)).permissions() & std::filesystem::perms(0222),
              std::filesystem::perms::none);
    const std::string hex = tree.digest.hash.hex();
    EXPECT_EQ(store->object_path(tree.digest),
              directory / "objects" / hex.substr(0, 2) / (hex.substr(2) + "." + std::to_string(size)));
  }
  EXPECT_TRUE(files_below(directory / "tmp").empty());
}

TEST_F(Objects, ManyAreOneGroup) {
  std::vector<std::unique_ptr<ObjectWriter>> group;
  std::vector<Digest> digests;
  for (int i = 0; i < 100; ++i) {
    auto writer = store->write_object();
    writer->write(bytes_of("object " + std::to_string(i % 90)));  // some twice
    digests.push_back(writer->finish().digest);
    group.push_back(std::move(writer));
  }
  EXPECT_FALSE(store->present(digests[0]));
  store->publish(std::move(group));
  for (const auto& digest : digests) EXPECT_TRUE(store->present(digest));
  EXPECT_EQ(files_below(directory / "objects").size(), 90U);
  EXPECT_TRUE(files_below(directory / "tmp").empty());
}

TEST_F(Objects, UnpublishedLeavesNothing) {
  { store->write_object()->write(bytes_of("never finished")); }
  EXPECT_TRUE(files_below(directory / "tmp").empty());
  auto writer = store->write_object();
  std::vector<std::unique_ptr<ObjectWriter>> group;
  group.push_back(std::move(writer));
  EXPECT_EQ(kind_of([&] { store->publish(std::move(group)); }), FailureKind::internal);
}

TEST_F(Objects, TamperedIsFoundByCtimeAlone) {
  const FileTree tree = put("the right bytes");
  reopen();
  EXPECT_TRUE(store->present(tree.digest));
  tamper(store->object_path(tree.digest), 3);
  EXPECT_FALSE(store->present(tree.digest));
  EXPECT_FALSE(std::filesystem::exists(store->object_path(tree.digest)));
  EXPECT_EQ(files_below(directory / "quarantine").size(), 1U);
  put("the right bytes");
  EXPECT_TRUE(store->present(tree.digest));
}

TEST_F(Objects, LostEvidenceCostsOneHash) {
  const FileTree tree = put("bytes");
  store.reset();
  std::filesystem::remove_all(directory / "verified");
  store = Store::open(directory, false);
  EXPECT_TRUE(store->present(tree.digest));
  EXPECT_TRUE(store->present(tree.digest));
}

TEST_F(Objects, DistrustReadsAgain) {
  const FileTree tree = put("bytes");
  store->distrust(tree.digest);
  EXPECT_TRUE(store->present(tree.digest));
}

TEST_F(Objects, EvidenceOfAnotherProcessIsSeen) {
  const auto other = Store::open(directory, false);
  const FileTree before = put("first");
  EXPECT_TRUE(other->present(before.digest));
  const FileTree after = put("second");
  EXPECT_TRUE(other->present(after.digest));
}

TEST_F(Objects, WrongSizeUnderTheRightNameIsPutAside) {
  const FileTree tree = tree_of("abc");
  std::filesystem::create_directories(store->object_path(tree.digest).parent_path());
  write_file(store->object_path(tree.digest), "abcd");
  EXPECT_FALSE(store->present(tree.digest));
  put("abc");
  EXPECT_EQ(object(tree.digest), "abc");
}

TEST_F(Objects, AdoptCopies) {
  const std::string bytes = seeded_bytes(2, 0, 5'000'000);
  write_file(temp / "mine", bytes);
  std::string seen;
  const FileTree tree = store->adopt(temp / "mine", false, [&](std::span<const std::byte> piece) {
    seen.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  EXPECT_EQ(seen, bytes);
  EXPECT_EQ(tree.digest, tree_of(bytes).digest);
  EXPECT_EQ(tree.chunks.size(), 2U);
  write_file(temp / "mine", "other");
  EXPECT_TRUE(store->present(tree.digest));
  EXPECT_EQ(object(tree.digest), bytes);
}

TEST_F(Objects, AdoptLinks) {
  write_file(temp / "mine", "user's bytes");
  const FileTree tree = store->adopt(temp / "mine", true, {});
  EXPECT_TRUE(std::filesystem::is_symlink(store->object_path(tree.digest)));
  EXPECT_TRUE(store->present(tree.digest));
  reopen();
  EXPECT_TRUE(store->present(tree.digest));
  write_file(temp / "mine", "USER'S bytes");
  EXPECT_FALSE(store->present(tree.digest));
  EXPECT_TRUE(std::filesystem::exists(temp / "mine"));
}

TEST_F(Objects, AdoptRefusesWhatChangesAndWhatIsNoFile) {
  write_file(temp / "mine", seeded_bytes(3, 0, 9'000'000));
  for (const bool link : {false, true}) {
    bool written = false;
    EXPECT_EQ(kind_of([&] {
                store->adopt(temp / "mine", link, [&](std::span<const std::byte>) {
                  if (!written) write_file(temp / "mine", seeded_bytes(4, 0, 9'000'000));
                  written = true;
                });
              }),
              FailureKind::changed);
  }
  EXPECT_EQ(kind_of([&] { store->adopt(temp / "store", false, {}); }), FailureKind::usage);
  EXPECT_EQ(kind_of([&] { store->adopt(temp / "absent", false, {}); }), FailureKind::storage);
  ASSERT_EQ(::mkfifo((temp / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(kind_of([&] { store->adopt(temp / "fifo", false, {}); }), FailureKind::usage);
  EXPECT_TRUE(files_below(directory / "objects").empty());
}

TEST_F(Objects, ThreadsPublishAtOnce) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 20; ++i) put("thread " + std::to_string(t % 2) + " object " + std::to_string(i));
    });
  }
  threads.clear();
  EXPECT_EQ(files_below(directory / "objects").size(), 40U);
  const auto report = store->verify(nullptr, 2, {});
  EXPECT_EQ(report.files, 40U);
  EXPECT_TRUE(report.bad.empty());
}

// Sites remove empty directories of scratch filesystems.
TEST_F(Objects, OfADirectoryThatIsGoneMakeItAgain) {
  const Digest first = tree_of("a").digest;
  put("a");
  std::string other = "b";
  while (tree_of(other).digest.hash.bytes().front() != first.hash.bytes().front()) other += 'b';
  std::filesystem::remove_all(store->object_path(first).parent_path());
  put(other);
  EXPECT_EQ(read_file(store->object_path(tree_of(other).digest)), other);
  EXPECT_FALSE(store->present(first));
}

}  // namespace
}  // namespace sabath::test
