#include "manifest/manifest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "manifest/nodes.h"
#include "plain_tree.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

using test::Plain;
using test::PlainTree;

PlainTree tree_of(const Manifest& manifest) {
  PlainTree tree;
  std::vector<std::string> paths;
  manifest.for_each([&](const Entry& entry) {
    paths.push_back(entry.path.text());
    if (entry.type == EntryType::directory) {
      tree[entry.path.text()] = {EntryType::directory, {}, {}, {}};
    } else {
      tree[entry.path.text()] = {entry.type, entry.digest,
                                 entry.is_file() ? manifest.chunks(entry) : std::vector<Sha256>(), entry.target};
    }
  });
  EXPECT_TRUE(std::ranges::is_sorted(paths, [](const auto& a, const auto& b) { return tree_order_less(a, b); }));
  EXPECT_EQ(paths.size(), tree.size());
  for (const std::string& path : paths) {  // only empty directories are in a plain tree
    const std::string parent(RelativePath::parse(path).parent());
    if (!parent.empty()) tree.erase(parent);
  }
  return tree;
}

TEST(Manifest, TheEmptyAsset) {
  ManifestBuilder builder;
  const Manifest manifest = Manifest::parse(builder.bytes());
  manifest.check();
  EXPECT_EQ(manifest.totals(), Totals{});
  EXPECT_FALSE(manifest.find(RelativePath::parse("a")));
  manifest.for_each([](const Entry&) { FAIL(); });
}

TEST(Manifest, RandomTreesComeBackAsTheyWere) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(seed);
  test::Random random(seed);
  for (const std::size_t count : {1, 2, 7, 60, 700, 8000}) {
    PlainTree tree;
    test::grow(tree, count, random);
    const Manifest manifest = test::manifest_of(tree);
    manifest.check();
    EXPECT_EQ(tree_of(manifest), tree);
    Totals totals;
    std::set<std::string> directories;
    for (const auto& [path, plain] : tree) {
      const auto entry = manifest.find(RelativePath::parse(path));
      ASSERT_TRUE(entry) << path;
      EXPECT_EQ(entry->type, plain.type);
      totals.symlinks += plain.type == EntryType::symlink;
      if (entry->is_file()) {
        ++totals.files;
        totals.bytes += plain.digest.size_bytes;
        EXPECT_EQ(entry->digest, plain.digest);
        if (plain.digest.size_bytes > chunk_size_bytes) {
          EXPECT_EQ(manifest.chunks(*entry), plain.chunks);
        }
      }
      if (plain.type == EntryType::directory) directories.insert(path);
      for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        directories.insert(path.substr(0, slash));
      }
      EXPECT_FALSE(manifest.find(RelativePath::parse(path + "x")));
      EXPECT_FALSE(manifest.find(RelativePath::parse(path + "/x")));
    }
    totals.directories = directories.size();
    EXPECT_EQ(manifest.totals(), totals);
    for (const std::string& directory : directories) {
      EXPECT_EQ(manifest.find(RelativePath::parse(directory))->type, EntryType::directory);
    }
  }
}

// One lookup for many paths says what one look for each does: those that are there and those that are not, in any
// order.
TEST(Manifest, ALookupOfMany) {
  test::Random random(test::test_seed());
  PlainTree tree;
  test::grow(tree, 8000, random);
  const Manifest manifest = test::manifest_of(tree);
  std::vector<std::string> paths;
  for (const auto& [path, plain] : tree) paths.insert(paths.end(), {path, path + "x", path + "/x"});
  for (const bool shuffled : {false, true}) {
    if (shuffled) std::shuffle(paths.begin(), paths.end(), std::mt19937_64(test::test_seed()));
    ManifestLookup lookup(manifest);
    for (const auto& path : paths) {
      const auto entry = lookup.find(RelativePath::parse(path));
      const auto known = tree.find(path);
      ASSERT_EQ(entry.has_value(), known != tree.end()) << path;
      if (!entry) continue;
      EXPECT_EQ(entry->path.text(), path);
      EXPECT_EQ(entry->type, known->second.type);
      if (entry->is_file()) {
        EXPECT_EQ(entry->digest, known->second.digest);
      }
    }
  }
}

TEST(Manifest, TheOrderOfAddingDoesNotMatter) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(seed);
  test::Random random(seed);
  PlainTree tree;
  test::grow(tree, 3000, random);
  std::vector<std::pair<std::string, Plain>> entries(tree.begin(), tree.end());
  std::ranges::shuffle(entries, random);
  ManifestBuilder builder;
  const Checksums checksums{"900150983cd24fb0d6963f7d28e17f72", "", ""};
  for (const auto& [path, plain] : entries) {
    test::add_to(builder, path, plain);
    if (plain.type == EntryType::file) builder.add_checksums(RelativePath::parse(path), checksums);
    if (path.find('/') != std::string::npos) builder.add_directory(RelativePath::parse(path.substr(0, path.find('/'))));
  }
  ManifestBuilder other;
  for (const auto& [path, plain] : tree) {
    test::add_to(other, path, plain);
    if (plain.type == EntryType::file) other.add_checksums(RelativePath::parse(path), checksums);
  }
  const std::string bytes = builder.bytes();
  EXPECT_EQ(bytes, other.bytes());
  Manifest::parse(bytes).check();
  EXPECT_EQ(builder.bytes(), bytes) << "a second time";
}

TEST(Manifest, FilesAndMemoryHoldTheSameBytes) {
  test::Random random(1);
  PlainTree tree;
  test::grow(tree, 2000, random);
  ManifestBuilder builder;
  for (const auto& [path, plain] : tree) test::add_to(builder, path, plain);
  const test::TempDir directory;
  const std::filesystem::path file = directory / "a.manifest";
  const Sha256 root = builder.write(file);
  const Manifest opened = Manifest::open(file);
  EXPECT_EQ(opened.root(), root);
  EXPECT_EQ(std::filesystem::file_size(file), builder.bytes().size());
  opened.check();
  EXPECT_EQ(tree_of(opened), tree);
  std::vector<std::jthread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      for (const auto& [path, plain] : tree) EXPECT_TRUE(opened.find(RelativePath::parse(path)));
    });
  }
}

TEST(Manifest, AFailedWriteLeavesNoFile) {
  ManifestBuilder builder;
  builder.add_symlink(RelativePath::parse("a"), "b");
  builder.add_symlink(RelativePath::parse("a"), "c");
  const test::TempDir directory;
  const std::filesystem::path file = directory / "a.manifest";
  EXPECT_EQ(test::kind_thrown([&] { builder.write(file); }), FailureKind::invalid);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Manifest, ChecksumsStandOutsideTheRoot) {
  const Checksums some{"900150983cd24fb0d6963f7d28e17f72", "a9993e364706816aba3e25717850c26c9cd0d89d", ""};
  ManifestBuilder with, without;
  for (ManifestBuilder* builder : {&with, &without}) {
    builder->add_file(RelativePath::parse("d/a"), digest_of_chunks(0, {}), {});
  }
  with.add_checksums(RelativePath::parse("d/a"), some);
  with.add_checksums(RelativePath::parse("d/a"), some);
  const Manifest manifest = Manifest::parse(with.bytes()), bare = Manifest::parse(without.bytes());
  EXPECT_EQ(manifest.root(), bare.root());
  EXPECT_EQ(manifest.checksums(), (std::map<std::string, Checksums>{{"d/a", some}}));
  EXPECT_TRUE(bare.checksums().empty());
  manifest.check();

  // The first three were all that there were: what was written then is read.
  Checksums all = some;
  for (const auto& algorithm : checksum_algorithms) all.*algorithm.value = std::string(algorithm.digits, 'a');
  ManifestBuilder complete;
  complete.add_file(RelativePath::parse("d/a"), digest_of_chunks(0, {}), {});
  complete.add_checksums(RelativePath::parse("d/a"), all);
  EXPECT_EQ(Manifest::parse(complete.bytes()).checksums(), (std::map<std::string, Checksums>{{"d/a", all}}));

  EXPECT_EQ(test::kind_thrown([&] {
              with.add_checksums(RelativePath::parse("d/a"), {"XX", "", ""});
            }),
            FailureKind::invalid);
  with.add_checksums(RelativePath::parse("d/a"), {"", "a9993e364706816aba3e25717850c26c9cd0d89d", ""});
  EXPECT_EQ(test::kind_thrown([&] { (void)with.bytes(); }), FailureKind::invalid) << "two opinions";
  without.add_checksums(RelativePath::parse("d"), some);
  EXPECT_EQ(test::kind_thrown([&] { (void)without.bytes(); }), FailureKind::invalid) << "a directory has none";
}

TEST(Manifest, ANoteStandsOutsideTheRootAndStaysWithItsManifest) {
  ManifestBuilder with, without;
  for (ManifestBuilder* builder : {&with, &without}) builder->add_directory(RelativePath::parse("d"));
  const std::string note = R"({"derived":{"from":"x"}})";
  with.set_note(note);
  const Manifest noted = Manifest::parse(with.bytes()), bare = Manifest::parse(without.bytes());
  noted.check();
  EXPECT_EQ(noted.root(), bare.root());
  EXPECT_EQ(noted.note(), note);
  EXPECT_EQ(bare.note(), "");
  ManifestBuilder part;
  part.add_all(noted, nullptr);
  EXPECT_EQ(part.bytes(), without.bytes()) << "what is said of a part is not said of the whole";
  for (const char* bad : {"", "[]", R"({"b":1,"a":2})"})
    EXPECT_EQ(test::kind_thrown([&] { with.set_note(bad); }), FailureKind::invalid) << bad;
}

TEST(Manifest, AnAssetMovesBelowAPrefix) {
  test::Random random(3);
  PlainTree tree, moved;
  test::grow(tree, 500, random);
  for (const auto& [path, plain] : tree) moved["p/q/" + path] = plain;
  const Manifest manifest = test::manifest_of(tree);
  const RelativePath prefix = RelativePath::parse("p/q");
  ManifestBuilder below, here;
  below.add_all(manifest, &prefix);
  here.add_all(manifest, nullptr);
  EXPECT_EQ(below.bytes(), test::bytes_of(moved));
  EXPECT_EQ(here.bytes(), test::bytes_of(tree));
  const auto entry = Manifest::parse(below.bytes()).find(prefix);
  EXPECT_EQ(entry->digest.hash, manifest.root()) << "a sub-tree is named as it is alone";
  EXPECT_EQ(entry->files, manifest.totals().files);
}

TEST(Manifest, CollidingNamesAreRefused) {
  const auto refuses = [](std::initializer_list<const char*> paths) {
    ManifestBuilder builder;
    for (const char* path : paths) builder.add_file(RelativePath::parse(path), digest_of_chunks(0, {}), {});
    return test::kind_thrown([&] { (void)builder.bytes(); }) == FailureKind::invalid;
  };
  EXPECT_TRUE(refuses({"a", "a"}));
  EXPECT_TRUE(refuses({"a/b/c", "a!", "a/b"}));
  EXPECT_TRUE(refuses({"a", "a/b", "a!"}));
  ManifestBuilder builder;
  builder.add_directory(RelativePath::parse("a"));
  builder.add_directory(RelativePath::parse("a"));
  builder.add_file(RelativePath::parse("a/b"), digest_of_chunks(0, {}), {});
  (void)builder.bytes();
  builder.add_symlink(RelativePath::parse("a"), "c");
  EXPECT_EQ(test::kind_thrown([&] { (void)builder.bytes(); }), FailureKind::invalid);
}

TEST(Manifest, ABuilderRefusesWhatIsNotSo) {
  ManifestBuilder builder;
  const RelativePath path = RelativePath::parse("a/b");
  const std::vector<Sha256> chunks(2);
  Digest digest = digest_of_chunks(chunk_size_bytes + 1, chunks);
  EXPECT_EQ(test::kind_thrown([&] { builder.add_file(path, digest, {}); }), FailureKind::invalid);
  ++digest.size_bytes;
  EXPECT_EQ(test::kind_thrown([&] { builder.add_file(path, digest, chunks); }), FailureKind::invalid);
  EXPECT_EQ(test::kind_thrown([&] { builder.add_file(path, {ContentKind::tree, 1, {}}, {}); }), FailureKind::invalid);
  EXPECT_EQ(test::kind_thrown([&] { builder.add_file(path, {ContentKind::file, 0, {}}, {}); }), FailureKind::invalid);
  for (const char* target : {"/etc/passwd", "../../x", "", "../../a/b"}) {
    EXPECT_EQ(test::kind_thrown([&] { builder.add_symlink(path, target); }), FailureKind::invalid) << target;
  }
  builder.add_symlink(path, "../x");
}

// A change of one file in 20,000 leaves all nodes but those on its path as they are.
TEST(Manifest, AChangeSharesAllOtherPages) {
  PlainTree tree;
  test::Random random(5);
  for (int i = 0; i < 20'000; ++i)
    tree[fmt::format("f{}", i)] = {EntryType::file, {ContentKind::file, 1, test::random_hash(random)}, {}, {}};
  const auto hashes = [](const Manifest& manifest) {
    std::set<Sha256> all;
    const NodeFile& pack = manifest.nodes().pack;
    const std::function<void(const Sha256&)> visit = [&](const Sha256& hash) {
      all.insert(hash);
      for (const TreeChild& child : parse_tree_node(pack.read(hash)).children) visit(child.hash);
    };
    visit(pack.root());
    return all;
  };
  const auto before = hashes(test::manifest_of(tree));
  EXPECT_GT(before.size(), 20);
  const auto new_nodes = [&] {
    std::size_t count = 0;
    for (const Sha256& hash : hashes(test::manifest_of(tree))) count += !before.contains(hash);
    return count;
  };
  PlainTree saved = tree;
  tree["f777"].digest.hash = sha256("other");
  EXPECT_LE(new_nodes(), 3);
  tree = saved;
  tree["f777a"] = tree["f777"];
  EXPECT_LE(new_nodes(), 5);
  tree = saved;
  tree.erase("f777");
  EXPECT_LE(new_nodes(), 5);
}

}  // namespace
}  // namespace sabath
