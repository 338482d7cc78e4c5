// A view that is made while its files arrive: tests of store/views/growing_view.h.
#include "store/views/growing_view.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "base/file.h"
#include "store/hints/evidence.h"
#include "store/state.h"
#include "store_fixture.h"

// Stand before those of the C library, and fail while a test says so.
namespace {
int links_fail_with = 0;  // an errno; 0: they work
}  // namespace

extern "C" int linkat(int from, const char* name, int to, const char* link, int flags) noexcept {
  if (links_fail_with == 0) return static_cast<int>(::syscall(SYS_linkat, from, name, to, link, flags));
  errno = links_fail_with;
  return -1;
}

extern "C" int link(const char* name, const char* link) noexcept { return ::linkat(AT_FDCWD, name, AT_FDCWD, link, 0); }

extern "C" int renameat2(int from, const char* name, int to, const char* other, unsigned flags) noexcept {
  if (links_fail_with == 0) return static_cast<int>(::syscall(SYS_renameat2, from, name, to, other, flags));
  errno = EINVAL;
  return -1;
}

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using Group = std::vector<std::unique_ptr<ObjectWriter>>;

struct GrowingViews : StoreFixture {
  const std::map<std::string, std::string> plain{
      {"dir/deep/b.txt", "text"}, {"dir/same.txt", "text"}, {"empty.txt", ""}, {"a.bin", seeded_bytes(5, 0, 100'000)}};
  const std::string script = "#!/bin/sh\nexit 7\n";

  Manifest asset() {
    ManifestBuilder builder;
    for (const auto& [path, bytes] : plain) add(builder, path, bytes);
    add(builder, "run.sh", script, true);
    builder.add_directory(RelativePath::parse("hollow/inner"));
    builder.add_symlink(RelativePath::parse("dir/link"), "deep/b.txt");
    return *store->manifest(store->put_manifest(builder));
  }
  static void add(ManifestBuilder& builder, const std::string& path, const std::string& bytes,
                  bool executable = false) {
    const FileTree tree = tree_of(bytes);
    builder.add_file(RelativePath::parse(path), tree.digest, tree.chunks, executable);
  }
  static void write(GrowingView& view, Group& group, const std::string& path, const std::string& bytes) {
    group.push_back(view.write_object(path));
    group.back()->write_hashed(bytes_of(bytes), tree_of(bytes));
  }
  // Each content once, as staging does.
  void write_all(GrowingView& view) {
    Group group;
    for (const auto& [path, bytes] : plain) {
      if (path != "dir/same.txt") write(view, group, path, bytes);
    }
    write(view, group, "run.sh", script);
    store->publish(std::move(group));
  }
  fs::path grow(const Manifest& manifest) {
    GrowingView view(*store);
    write_all(view);
    return view.show(manifest);
  }
  void expect_shown(const Manifest& manifest) {
    const fs::path view = store->view_path(manifest.root());
    for (const auto& [path, bytes] : plain) EXPECT_EQ(read_file(view / path), bytes) << path;
    EXPECT_EQ(WEXITSTATUS(std::system((view / "run.sh").c_str())), 7);
    EXPECT_TRUE(fs::is_symlink(view / "dir/link"));
    EXPECT_TRUE(fs::is_directory(view / "hollow/inner"));
    EXPECT_EQ(files_below(view).size(), 6U);
    EXPECT_TRUE(files_below(directory / "tmp").empty());
    EXPECT_TRUE(store->view_present(manifest));
  }
  // Nothing need be read: each object has a fact that agrees with it now.
  void expect_known(const Manifest& manifest) {
    reopen();
    const Owners owners;
    Evidence evidence(directory / "verified", WriterId::of_this_process(), owners);
    manifest.for_each([&](const Entry& entry) {
      const auto object = entry.is_file() ? try_lstat(store->object_path(entry.digest)) : std::nullopt;
      EXPECT_EQ(object.has_value(), entry.is_file()) << entry.path.text();
      EXPECT_TRUE(!object || evidence.matches(entry.digest, *object)) << entry.path.text();
    });
  }
  [[nodiscard]] bool one_file(const fs::path& a, const fs::path& b) const {
    return try_lstat(a)->st_ino == try_lstat(b)->st_ino;
  }
};

TEST_F(GrowingViews, AreViewsWhoseFilesAreObjects) {
  const auto manifest = asset();
  GrowingView view(*store);
  write_all(view);
  EXPECT_FALSE(store->view_present(manifest));
  const fs::path shown = view.show(manifest);
  EXPECT_EQ(shown, store->view_path(manifest.root()));
  expect_shown(manifest);
  EXPECT_TRUE(store->state().reflinks() ||
              one_file(shown / "a.bin", store->object_path(tree_of(plain.at("a.bin")).digest)));
  EXPECT_TRUE(store->state().reflinks() || one_file(shown / "dir/same.txt", shown / "dir/deep/b.txt"));
  EXPECT_EQ(try_lstat(shown / "a.bin")->st_mode & 0333, 0U);
  expect_known(manifest);
}

TEST_F(GrowingViews, TakeTheObjectsThatAreThere) {
  const auto manifest = asset();
  put(plain.at("a.bin"));
  put("text");
  grow(manifest);
  expect_shown(manifest);
  expect_known(manifest);
}

TEST_F(GrowingViews, WithoutAFileAreAsUsual) {
  const auto manifest = asset();
  for (const auto& [path, bytes] : plain) put(bytes);
  put(script);
  GrowingView view(*store);
  static_cast<void>(view.show(manifest));
  expect_shown(manifest);
}

TEST_F(GrowingViews, OfWhatAlreadyStandsMendIt) {
  const auto manifest = asset();
  fs::remove(grow(manifest) / "a.bin");
  grow(manifest);
  expect_shown(manifest);
}

TEST_F(GrowingViews, NeverShowWhatTheManifestLacks) {
  const auto manifest = asset();
  GrowingView view(*store);
  write_all(view);
  Group group;
  write(view, group, "dir/stray.txt", "nobody asked for this");
  store->publish(std::move(group));
  static_cast<void>(view.show(manifest));
  expect_shown(manifest);
}

// A file that grew in another place than the manifest's, or has another content, does not count for the manifest.
TEST_F(GrowingViews, ShowWhatTheManifestHasThere) {
  const auto manifest = asset();
  put(plain.at("a.bin"));
  GrowingView view(*store);
  Group group;
  write(view, group, "a.bin", "another content");
  write(view, group, "dir/same.txt", "text");
  write(view, group, "empty.txt", "");
  write(view, group, "run.sh", script);
  store->publish(std::move(group));
  static_cast<void>(view.show(manifest));
  expect_shown(manifest);
}

TEST_F(GrowingViews, AreNotShownWhileSomethingLacks) {
  const auto manifest = asset();
  GrowingView view(*store);
  Group group;
  write(view, group, "a.bin", plain.at("a.bin"));
  store->publish(std::move(group));
  EXPECT_EQ(kind_of([&] { static_cast<void>(view.show(manifest)); }), FailureKind::storage);
  EXPECT_FALSE(fs::exists(store->view_path(manifest.root())));
  EXPECT_TRUE(files_below(directory / "tmp").empty());
  EXPECT_TRUE(store->present(tree_of(plain.at("a.bin")).digest));
}

// As on AFS, whose links lead to no other directory; the kernel there has no rename that replaces nothing.
TEST_F(GrowingViews, StandWhereNoFileCanHaveTwoDirectories) {
  const auto manifest = asset();
  for (const int error : {EXDEV, EPERM, EMLINK, EOPNOTSUPP}) {
    fs::remove_all(directory);
    store = Store::open(directory, true);
    ASSERT_EQ(asset().root(), manifest.root());
    links_fail_with = error;
    grow(manifest);
    links_fail_with = 0;
    expect_shown(manifest);
  }
}

TEST_F(GrowingViews, ThatAreGivenUpLeaveTheirObjects) {
  const auto manifest = asset();
  GrowingView view(*store);
  write_all(view);
  view.abandon(manifest);
  EXPECT_FALSE(fs::exists(store->view_path(manifest.root())));
  EXPECT_TRUE(files_below(directory / "tmp").empty());
  expect_known(manifest);
}

TEST_F(GrowingViews, ThatAreForgottenLeaveThemToo) {
  const auto manifest = asset();
  {
    GrowingView view(*store);
    write_all(view);
    Group never_published;
    write(view, never_published, "other/x", "x");
  }
  EXPECT_TRUE(files_below(directory / "tmp").empty());
  manifest.for_each(
      [&](const Entry& entry) { EXPECT_TRUE(!entry.is_file() || store->present(entry.digest)) << entry.path.text(); });
  EXPECT_FALSE(store->present(tree_of("x").digest));
}

}  // namespace
}  // namespace sabath::test
