#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "base/file.h"
#include "store/hints/evidence.h"
#include "store_fixture.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;

struct Views : StoreFixture {
  const std::string large = seeded_bytes(5, 0, 2 * chunk_size_bytes + 77);

  Manifest asset() {
    ManifestBuilder builder;
    const auto add = [&](const char* path, std::string_view bytes, bool executable = false) {
      const FileTree tree = put(bytes);
      builder.add_file(RelativePath::parse(path), tree.digest, tree.chunks, executable);
    };
    add("a.bin", large);
    add("dir/deep/b.txt", "text");
    add("dir/same.txt", "text");
    add("empty.txt", "");
    add("run.sh", "#!/bin/sh\nexit 7\n", true);
    builder.add_directory(RelativePath::parse("hollow/inner"));
    builder.add_symlink(RelativePath::parse("dir/link"), "deep/b.txt");
    return *store->manifest(store->put_manifest(builder));
  }
  static ino_t inode(const fs::path& file) { return try_lstat(file)->st_ino; }
};

TEST_F(Views, ShowTheAsset) {
  const auto manifest = asset();
  EXPECT_FALSE(store->view_present(manifest));
  const auto view = store->make_view(manifest);
  EXPECT_EQ(view, directory / "views" / manifest.root().hex());
  EXPECT_EQ(read_file(view / "a.bin"), large);
  EXPECT_EQ(read_file(view / "dir/link"), "text");
  EXPECT_TRUE(fs::is_symlink(view / "dir/link"));
  EXPECT_TRUE(fs::is_directory(view / "hollow/inner"));
  EXPECT_EQ(fs::file_size(view / "empty.txt"), 0U);
  EXPECT_EQ(WEXITSTATUS(std::system((view / "run.sh").c_str())), 7);
  EXPECT_EQ(try_lstat(view / "run.sh")->st_mode & 0222, 0U);
  EXPECT_EQ(try_lstat(view / "a.bin")->st_mode & 0333, 0U);
  EXPECT_TRUE(store->view_present(manifest));
  EXPECT_EQ(files_below(view).size(), 6U);
  EXPECT_TRUE(files_below(directory / "tmp").empty());
}

TEST_F(Views, LinksDoNotCostTheEvidence) {
  const auto manifest = asset();
  (void)store->make_view(manifest);
  reopen();
  // Nothing may be read now: every object and view file has a fact that agrees with its ctime after linking.
  manifest.for_each([&](const Entry& entry) {
    if (!entry.is_file()) return;
    const Owners owners;
    Evidence evidence(directory / "verified", WriterId::of_this_process(), owners);
    EXPECT_TRUE(evidence.matches(entry.digest, *try_lstat(store->object_path(entry.digest)))) << entry.path.text();
    const auto seen = store->view_path(manifest.root()) / entry.path.text();
    EXPECT_TRUE(evidence.matches(entry.digest, *try_lstat(seen))) << seen;
  });
  EXPECT_TRUE(store->view_present(manifest));
}

TEST_F(Views, AreMendedAndNothingElseIsTouched) {
  const auto manifest = asset();
  const auto view = store->make_view(manifest);
  const auto untouched = inode(view / "a.bin");
  fs::remove(view / "dir/deep/b.txt");
  fs::remove(view / "dir/same.txt");
  fs::create_directory(view / "dir/same.txt");
  write_file(view / "dir/same.txt/x", "x");
  fs::remove(view / "dir/link");
  fs::create_symlink("/etc", view / "dir/link");
  fs::remove_all(view / "hollow");
  write_file(view / "hollow", "a file");
  fs::remove(view / "run.sh");
  write_file(view / "run.sh", "#!/bin/sh\nexit 8\n");
  write_file(view / "users.txt", "not ours");
  EXPECT_FALSE(store->view_present(manifest));
  EXPECT_EQ(store->make_view(manifest), view);
  EXPECT_TRUE(store->view_present(manifest));
  EXPECT_EQ(inode(view / "a.bin"), untouched);
  EXPECT_EQ(read_file(view / "dir/same.txt"), "text");
  EXPECT_EQ(fs::read_symlink(view / "dir/link"), "deep/b.txt");
  EXPECT_EQ(WEXITSTATUS(std::system((view / "run.sh").c_str())), 7);
  EXPECT_EQ(read_file(view / "users.txt"), "not ours");
}

TEST_F(Views, NeverFollowASymlinkThatStandsInTheWay) {
  const auto manifest = asset();
  const auto view = store->make_view(manifest);
  fs::create_directory(temp / "victim");
  fs::remove_all(view / "dir");
  fs::create_directory_symlink(temp / "victim", view / "dir");
  EXPECT_FALSE(store->view_present(manifest));
  (void)store->make_view(manifest);
  EXPECT_TRUE(fs::is_empty(temp / "victim"));
  EXPECT_FALSE(fs::is_symlink(view / "dir"));
  EXPECT_TRUE(store->view_present(manifest));
}

TEST_F(Views, TamperedFilesAreSeen) {
  const auto manifest = asset();
  const auto view = store->make_view(manifest);
  tamper(view / "run.sh", 0);
  EXPECT_FALSE(store->view_present(manifest));
  (void)store->make_view(manifest);
  EXPECT_TRUE(store->view_present(manifest));
  tamper(view / "a.bin", 5);  // a hard link: the object itself
  EXPECT_FALSE(store->view_present(manifest));
  EXPECT_EQ(kind_of([&] { (void)store->make_view(manifest); }), FailureKind::storage);
  put(large);
  (void)store->make_view(manifest);
  EXPECT_TRUE(store->view_present(manifest));
  EXPECT_EQ(read_file(view / "a.bin"), large);
}

TEST_F(Views, WantEveryFile) {
  const auto manifest = asset();
  fs::remove(store->object_path(tree_of("text").digest));
  EXPECT_EQ(kind_of([&] { (void)store->make_view(manifest); }), FailureKind::storage);
  EXPECT_FALSE(fs::exists(store->view_path(manifest.root())));
}

TEST_F(Views, OfAdoptedFilesAreSymlinks) {
  write_file(temp / "mine", "user's bytes");
  const FileTree tree = store->adopt(temp / "mine", true, {});
  ManifestBuilder builder;
  builder.add_file(RelativePath::parse("f"), tree.digest, tree.chunks);
  builder.add_file(RelativePath::parse("x"), tree.digest, tree.chunks, true);
  const auto manifest = *store->manifest(store->put_manifest(builder));
  const auto view = store->make_view(manifest);
  EXPECT_EQ(fs::read_symlink(view / "f"), temp / "mine");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(view / "x")));
  EXPECT_TRUE(store->view_present(manifest));
  write_file(temp / "mine", "USER'S bytes");
  EXPECT_FALSE(store->view_present(manifest));
}

TEST_F(Views, AreMadeByManyAtOnce) {
  const auto manifest = asset();
  std::vector<std::unique_ptr<Store>> stores;
  for (int i = 0; i < 4; ++i) stores.push_back(Store::open(directory, false));
  {
    std::vector<std::jthread> threads;
    for (auto& one : stores) threads.emplace_back([&] { (void)one->make_view(manifest); });
  }
  stores.clear();
  EXPECT_TRUE(store->view_present(manifest));
  EXPECT_TRUE(files_below(directory / "tmp").empty());
  EXPECT_EQ(files_below(store->view_path(manifest.root())).size(), 6U);
}

// The views on another filesystem: links are impossible, so all are copies, each with evidence of its own.
TEST_F(Views, AreCopiesWhereLinksCannotBe) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting a tmpfs needs root";
  const auto manifest = asset();
  fs::create_directory(directory / "views");
  if (::mount("tmpfs", (directory / "views").c_str(), "tmpfs", 0, "size=32m") != 0) GTEST_SKIP() << "no tmpfs here";
  // Building stands in tmp/ and is renamed: across filesystems that cannot be, and is said.
  EXPECT_EQ(kind_of([&] { (void)store->make_view(manifest); }), FailureKind::storage);
  // A view that is there already is mended in place, by copies.
  fs::create_directory(store->view_path(manifest.root()));
  (void)store->make_view(manifest);
  EXPECT_TRUE(store->view_present(manifest));
  EXPECT_NE(inode(store->view_path(manifest.root()) / "a.bin"), inode(store->object_path(tree_of(large).digest)));
  reopen();
  EXPECT_TRUE(store->view_present(manifest));
  ASSERT_EQ(::umount((directory / "views").c_str()), 0);
}

TEST_F(Views, AreCopiesWhenAFileHasTooManyLinks) {
  const FileTree tree = put("popular");
  const auto object = store->object_path(tree.digest);
  int links = 0;
  for (; links < 70'000; ++links) {
    if (::link(object.c_str(), (temp / std::to_string(links)).c_str()) != 0) break;
  }
  if (links == 70'000) GTEST_SKIP() << "this filesystem allows more than 70,000 links to a file";
  ASSERT_TRUE(store->present(tree.digest));
  ManifestBuilder builder;
  builder.add_file(RelativePath::parse("f"), tree.digest, tree.chunks);
  const auto manifest = *store->manifest(store->put_manifest(builder));
  const auto view = store->make_view(manifest);
  EXPECT_NE(inode(view / "f"), inode(object));
  EXPECT_TRUE(store->view_present(manifest));
}

}  // namespace
}  // namespace sabath::test
