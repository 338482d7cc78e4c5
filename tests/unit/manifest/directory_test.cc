#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "plain_tree.h"
#include "support/seeded.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

std::string scan(const fs::path& directory, unsigned threads, std::uint64_t* bytes = nullptr) {
  ManifestBuilder builder;
  add_directory_tree(builder, directory, threads, [&](std::uint64_t more) {
    if (bytes) *bytes += more;
  });
  return builder.bytes();
}

TEST(DirectoryTree, HashesWhatIsThere) {
  const test::TempDir top;
  fs::create_directories(top / "d/e/empty");
  const std::uint64_t large = 3 * chunk_size_bytes + 5;
  test::write_seeded_file(top / "large", 1, large);
  test::write_seeded_file(top / "d/chunk", 2, chunk_size_bytes);
  test::write_file(top / "d/e/none", "");
  test::write_file(top / "d/run", "#!/bin/sh\n");
  fs::permissions(top / "d/run", fs::perms::owner_exec, fs::perm_options::add);
  fs::create_symlink("../large", top / "d/link");
  for (int i = 0; i < 600; ++i) test::write_file(top / (fmt::format("s{}", i)), std::to_string(i));

  std::uint64_t bytes = 0;
  const std::string one = scan(top.path(), 1, &bytes);
  EXPECT_EQ(scan(top.path(), 4), one) << "the number of threads does not show";
  EXPECT_EQ(scan(top.path(), 0), one);
  const Manifest manifest = Manifest::parse(one);
  manifest.check();
  EXPECT_EQ(manifest.totals().files, 604);
  EXPECT_EQ(manifest.totals().directories, 3);
  EXPECT_EQ(manifest.totals().symlinks, 1);
  EXPECT_EQ(manifest.totals().bytes, bytes);
  FileHasher hasher;
  const std::string content = test::seeded_bytes(1, 0, large);
  hasher.update(std::as_bytes(std::span(content)));
  const FileTree tree = hasher.finish();
  const auto found = manifest.find(RelativePath::parse("large"));
  EXPECT_EQ(found->digest, tree.digest);
  EXPECT_EQ(manifest.chunks(*found), tree.chunks);
  EXPECT_EQ(manifest.find(RelativePath::parse("d/run"))->type, EntryType::executable);
  EXPECT_EQ(manifest.find(RelativePath::parse("d/run"))->digest.hash, sha256("#!/bin/sh\n"));
  EXPECT_EQ(manifest.find(RelativePath::parse("d/link"))->target, "../large");
  EXPECT_EQ(manifest.find(RelativePath::parse("d/e/empty"))->type, EntryType::directory);
}

TEST(DirectoryTree, RefusesWhatAnAssetCannotHold) {
  const auto refuses = [](const std::function<void(const fs::path&)>& make) {
    const test::TempDir top;
    for (int i = 0; i < 300; ++i) test::write_file(top / std::to_string(i), "x");  // more than wait in the queue
    fs::create_directory(top / "d");
    make(top / "d");
    std::string message;
    const FailureKind kind = test::kind_thrown([&] { (void)scan(top.path(), 2); }, &message);
    return kind == FailureKind::invalid;
  };
  EXPECT_TRUE(refuses([](const fs::path& d) { ASSERT_EQ(::mkfifo((d / "fifo").c_str(), 0600), 0); }));
  EXPECT_TRUE(refuses([](const fs::path& d) { fs::create_symlink("/etc/passwd", d / "l"); }));
  EXPECT_TRUE(refuses([](const fs::path& d) { fs::create_symlink("../../x", d / "l"); }));
  EXPECT_TRUE(refuses([](const fs::path& d) { test::write_file(d / "a\nb", ""); }));
  EXPECT_TRUE(refuses([](const fs::path& d) { test::write_file(d / "\xff", ""); }));
}

TEST(DirectoryTree, AnAbsentDirectoryIsAStorageFailure) {
  EXPECT_EQ(test::kind_thrown([] { (void)scan("/nonexistent", 2); }), FailureKind::storage);
}

}  // namespace
}  // namespace sabath
