// Manifests that no builder made: every one is refused, by the reader that meets it.
#include <gtest/gtest.h>

#include "manifest/annotations.h"
#include "manifest/file_node.h"
#include "manifest/node_file.h"
#include "plain_tree.h"

namespace sabath {
namespace {

using test::kind_thrown;

class Forge {
 public:
  explicit Forge(std::string annotations = {})
      : annotations_(std::move(annotations)), pack_([this](std::string_view more) { bytes_ += more; }) {}
  Sha256 node(std::string_view bytes) { return pack_.put(bytes); }
  Sha256 page(std::initializer_list<TreeItem> items) { return page(std::vector<TreeItem>(items)); }
  Sha256 page(const std::vector<TreeItem>& items) {
    std::string bytes;
    put_tree_tag(bytes, 0);
    for (const TreeItem& item : items) put_tree_item(bytes, item);
    return node(bytes);
  }
  Sha256 index(unsigned level, const std::vector<TreeChild>& children) {
    std::string bytes;
    put_tree_tag(bytes, level);
    for (const TreeChild& child : children) put_tree_child(bytes, child);
    return node(bytes);
  }
  std::string finish(const Sha256& root) {
    pack_.finish(root, annotations_);
    return bytes_;
  }

 private:
  std::string annotations_, bytes_;
  NodeFileWriter pack_;
};

TreeItem file(std::string_view name) { return {name, EntryType::file, {ContentKind::file, 1, sha256("x")}, {}, {}}; }
TreeItem symlink(std::string_view name, std::string_view target) { return {name, EntryType::symlink, {}, {}, target}; }
TreeItem directory(std::string_view name, const Sha256& hash, const Totals& below) {
  return {name, EntryType::directory, {ContentKind::tree, below.bytes, hash}, below, {}};
}

// Every way of reading: none may crash, and check() must refuse.
void expect_refused(const std::string& bytes, const std::string& why) {
  SCOPED_TRACE(why);
  std::string message;
  EXPECT_EQ(kind_thrown([&] { Manifest::parse(bytes).check(); }, &message), FailureKind::invalid);
  EXPECT_NE(message.find(why), std::string::npos) << message;
}
void expect_all_refuse(const std::string& bytes, const std::string& why) {
  expect_refused(bytes, why);
  EXPECT_EQ(kind_thrown([&] { Manifest::parse(bytes).for_each([](const Entry&) {}); }), FailureKind::invalid) << why;
}
std::string one_page(std::initializer_list<TreeItem> items) {
  Forge forge;
  return forge.finish(forge.page(items));
}

TEST(Hostile, Pages) {
  expect_all_refuse(one_page({file("b"), file("a")}), "not sorted");
  expect_all_refuse(one_page({file("a"), file("a")}), "appears twice");
  expect_all_refuse(one_page({file("")}), "empty");
  expect_all_refuse(one_page({file("a/b")}), "slash");
  for (const char* name : {"..", ".", "a\nb", "\x7f", "\xff"}) {
    EXPECT_EQ(kind_thrown([&] { Manifest::parse(one_page({file(name)})).check(); }), FailureKind::invalid) << name;
  }
  expect_all_refuse(one_page({symlink("a", "../b")}), "leaves");
  expect_all_refuse(one_page({symlink("a", "/b")}), "leaves");
  TreeItem empty = file("a");
  empty.digest.size_bytes = 0;
  expect_all_refuse(one_page({empty}), "empty file");
  TreeItem huge = file("a");
  huge.digest.size_bytes = file_size_max + 1;
  expect_all_refuse(one_page({huge}), "longer than");
  Forge forge;
  std::string bytes;
  put_tree_tag(bytes, 0);
  put_tree_item(bytes, file("a"));
  bytes[16] = 'F';
  expect_all_refuse(forge.finish(forge.node(bytes)), "unknown kind");
}

TEST(Hostile, SymlinksAreJudgedWhereTheyStand) {
  Forge forge;
  const Sha256 inner = forge.page({symlink("l", "../x")});
  const Totals totals{0, 0, 1, 0};
  Manifest::parse(forge.finish(forge.page({directory("a", inner, totals)}))).check();
  Forge shallow;
  const Sha256 moved = shallow.page({symlink("l", "../x")});
  expect_all_refuse(shallow.finish(moved), "leaves");
}

TEST(Hostile, PagesEndWhereTheRuleSays) {
  std::string ender;  // a name that ends a page
  for (int i = 0; ender.empty(); ++i) {
    if (ends_tree_node(0, 2, fmt::format("n{}", i))) ender = fmt::format("n{}", i);
  }
  expect_all_refuse(one_page({file("a"), file(ender), file("z")}), "after its end");
  Forge short_page;
  const Sha256 a = short_page.page({file("a")}), b = short_page.page({file("b")});
  expect_all_refuse(short_page.finish(short_page.index(1, {{"a", {1, 0, 0, 1}, a}, {"b", {1, 0, 0, 1}, b}})),
                    "before its end");
  Forge lone;
  const Sha256 only = lone.page({file("a")});
  expect_all_refuse(lone.finish(lone.index(1, {{"a", {1, 0, 0, 1}, only}})), "single node");

  const auto indexed = [&](std::string_view key, std::string_view second, const Totals& totals, unsigned level) {
    Forge forge;
    const Sha256 first = forge.page({file("a"), file(ender)}), rest = forge.page({file("z")});
    return forge.finish(forge.index(level, {{key, {2, 0, 0, 2}, first}, {second, totals, rest}}));
  };
  Manifest::parse(indexed("a", "z", {1, 0, 0, 1}, 1)).check();
  expect_all_refuse(indexed("a", "y", {1, 0, 0, 1}, 1), "first name");
  expect_all_refuse(indexed("Z", "z", {1, 0, 0, 1}, 1), "first name");
  expect_all_refuse(indexed("a", "z", {2, 0, 0, 1}, 1), "totals");
  expect_all_refuse(indexed("a", "z", {1, 0, 0, 1}, 2), "level");
  expect_all_refuse(indexed("a", "z", {1, 0, 0, 1}, 200), "level");
  Forge overlap;
  const Sha256 first = overlap.page({file("a"), file(ender)}), second = overlap.page({file("b")});
  expect_all_refuse(overlap.finish(overlap.index(1, {{"a", {2, 0, 0, 2}, first}, {"b", {1, 0, 0, 1}, second}})),
                    "reach into");
  Forge none;
  expect_all_refuse(none.finish(none.index(1, {})), "empty");
}

TEST(Hostile, Totals) {
  Forge forge;
  const Sha256 inner = forge.page({file("f")});
  expect_all_refuse(forge.finish(forge.page({directory("a", inner, {1, 0, 0, 2})})), "totals");
  Forge big;
  const Sha256 page = big.page({file("f")});
  expect_all_refuse(big.finish(big.page({directory("a", page, {~std::uint64_t{0}, 0, 0, 1})})), "more entries");
  Forge sum;
  const Sha256 one = sum.page({file("f")});
  const Totals most{1, 0, 0, total_bytes_max};
  expect_all_refuse(sum.finish(sum.page({directory("a", one, most), directory("b", one, most)})),
                    "more entries or bytes");
}

// A few nodes that would be 1024^100 entries: the totals cannot be stated.
TEST(Hostile, ABombIsRefusedBeforeItIsWalked) {
  Forge forge;
  Sha256 hash = forge.page({file("f")});
  Totals below{1, 0, 0, 1};
  for (int depth = 0; depth < 12; ++depth) {
    std::vector<TreeItem> items;
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) items.push_back(directory(name, hash, below));
    hash = forge.page(items);
    below = {below.files * 8, (below.directories + 1) * 8, 0, below.bytes * 8};
  }
  expect_all_refuse(forge.finish(hash), "more entries");
}

TEST(Hostile, DepthIsBounded) {
  Forge forge;
  Sha256 hash = forge.page({file("f")});
  Totals below{1, 0, 0, 1};
  for (int depth = 0; depth < 128; ++depth) {
    hash = forge.page({directory("d", hash, below)});
    ++below.directories;
  }
  const std::string bytes = forge.finish(hash);
  EXPECT_EQ(kind_thrown([&] { Manifest::parse(bytes).check(); }), FailureKind::invalid);
  EXPECT_EQ(kind_thrown([&] { Manifest::parse(bytes).for_each([](const Entry&) {}); }), FailureKind::invalid);
}

TEST(Hostile, NodesInTheWrongPlaces) {
  Forge missing;
  const TreeItem nowhere = directory("a", sha256("nowhere"), {});
  expect_all_refuse(missing.finish(missing.page({nowhere})), "is missing");
  Forge unused;
  unused.page({file("u")});
  expect_refused(unused.finish(unused.page({file("a")})), "in its place");
  Forge after;
  const Sha256 root = after.page({file("a")});
  after.page({file("u")});
  expect_refused(after.finish(root), "nothing refers to");
  Forge swapped;
  const Sha256 b = swapped.page({file("b")}), a = swapped.page({file("a")});
  expect_refused(swapped.finish(swapped.page({directory("a", a, {1, 0, 0, 1}), directory("b", b, {1, 0, 0, 1})})),
                 "in its place");
  Forge no_tree;
  expect_all_refuse(no_tree.finish(no_tree.node("SABATH-node-v1")), "bytes expected");
  Forge other;
  expect_all_refuse(other.finish(other.node(encode_file_node(2, 1, {}))), "SABATH-tree-v1");
}

TEST(Hostile, ChunkLayers) {
  const std::vector<Sha256> chunks(2);
  const std::uint64_t size = chunk_size_bytes + 1;
  const auto with = [&](std::uint64_t stated, const std::string& node) {
    Forge forge;
    TreeItem item = file("f");
    item.digest = {ContentKind::file, stated, forge.node(node)};
    return forge.finish(forge.page({item}));
  };
  Manifest::parse(with(size, encode_file_node(2, size, chunks))).check();
  expect_refused(with(size + 1, encode_file_node(2, size, chunks)), "another number of bytes");
  expect_refused(with(size, encode_file_node(3, size, chunks)), "level");
  expect_refused(with(size, encode_file_node(2, size, {})), "children");
  expect_refused(with(3 * chunk_size_bytes, encode_file_node(2, 3 * chunk_size_bytes, chunks)), "children");
  const Manifest manifest = Manifest::parse(with(size + 1, encode_file_node(2, size, chunks)));
  EXPECT_EQ(kind_thrown([&] { (void)manifest.chunks(*manifest.find(RelativePath::parse("f"))); }),
            FailureKind::invalid);

  Forge twice;  // the same node under two lengths
  const Sha256 node = twice.node(encode_file_node(2, size, chunks));
  TreeItem a = file("a"), b = file("b");
  a.digest = {ContentKind::file, size, node};
  b.digest = {ContentKind::file, size + 1, node};
  expect_refused(twice.finish(twice.page({a, b})), "another number of bytes");
}

TEST(Hostile, Annotations) {
  const auto with = [](std::string_view path, const std::string& encoded, std::string_view more = {}) {
    std::string notes;
    put_annotation(notes, path, encoded);
    if (!more.empty()) put_annotation(notes, more, encoded);
    Forge forge(notes);
    return forge.finish(forge.page({file("a"), file("b")}));
  };
  const std::string good = encode_checksums({"900150983cd24fb0d6963f7d28e17f72", "", ""});
  Manifest::parse(with("a", good, "b")).check();
  expect_refused(with("c", good), "not there");
  expect_refused(with("b", good, "a"), "not sorted");
  expect_refused(with("a", good, "a"), "not sorted");
  expect_refused(with("a", std::string(1, '\0')), "unknown checksums");
  expect_refused(with("a", std::string(1, '\x40')), "unknown checksums");
  expect_refused(with("a", std::string(1, '\x08')), "28 bytes expected");
  expect_refused(with("a", good.substr(0, 10)), "bytes expected");
}

TEST(Hostile, Notes) {
  const auto with = [](const std::string& note, const std::string& before = "", const std::string& after = "") {
    std::string notes = before;
    put_note(notes, note);
    Forge forge(notes + after);
    return forge.finish(forge.page({file("a")}));
  };
  std::string sums;
  put_annotation(sums, "a", encode_checksums({"900150983cd24fb0d6963f7d28e17f72", "", ""}));
  Manifest::parse(with(R"({"a":{"b":[1,-2,null,true,"c"]}})", "", sums)).check();
  expect_refused(with("{}", sums), "not sorted");
  std::string twice;
  put_note(twice, "{}");
  expect_refused(with("{}", twice), "not sorted");
  expect_refused(with(""), "empty");
  expect_refused(with(std::string(note_size_max + 1, ' ')), "too long");
  for (const char* note : {"[]", "7", R"({"b":1,"a":2})", R"({"a": 1})", R"({"a":1.5})", R"({"a":1e3})", R"({"a":-0})",
                           R"({"a":18446744073709551616})", R"({"a":"\u0041"})", R"({"a":"\/"})"})
    expect_refused(with(note), "canonical form");
  for (const std::string& note : {std::string("{"), std::string(R"({"a":1,"a":2})"), std::string("{\"a\":\"\xff\"}"),
                                  "{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}"})
    expect_refused(with(note), "the note of a manifest");
  std::string cut;
  put_note(cut, "{}");
  Forge forge(cut.substr(0, cut.size() - 1));
  expect_refused(forge.finish(forge.page({file("a")})), "bytes expected");
}

std::string small_manifest() {
  ManifestBuilder builder;
  const std::vector<Sha256> chunks{sha256("c0"), sha256("c1")};
  builder.add_file(RelativePath::parse("big"), digest_of_chunks(chunk_size_bytes + 9, chunks), chunks);
  builder.add_file(RelativePath::parse("d/run"), {ContentKind::file, 3, sha256("abc")}, {}, true);
  builder.add_symlink(RelativePath::parse("d/l"), "run");
  builder.add_directory(RelativePath::parse("e"));
  builder.add_checksums(RelativePath::parse("d/run"), {"900150983cd24fb0d6963f7d28e17f72", "", ""});
  return builder.bytes();
}

TEST(Damage, EveryFlippedBitIsFound) {
  const std::string good = small_manifest();
  Manifest::parse(good).check();
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      EXPECT_EQ(kind_thrown([&] { Manifest::parse(bad).check(); }), FailureKind::invalid)
          << "byte " << at << " bit " << bit;
      try {
        const Manifest manifest = Manifest::parse(bad);
        manifest.for_each([](const Entry&) {});
      } catch (const Error& error) {
        EXPECT_EQ(error.failure().kind, FailureKind::invalid);
      }
    }
  }
}

TEST(Damage, EveryTruncationAndEveryTailIsFound) {
  const std::string good = small_manifest();
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(kind_thrown([&] { (void)Manifest::parse(good.substr(0, size)); }), FailureKind::invalid) << size;
    EXPECT_EQ(kind_thrown([&] { (void)Manifest::parse(good.substr(size + 1)); }), FailureKind::invalid) << size;
  }
  EXPECT_EQ(kind_thrown([&] { (void)Manifest::parse(good + '\0'); }), FailureKind::invalid);
}

TEST(Damage, HostileCountsInTheFooter) {
  const std::string good = small_manifest();
  for (const std::size_t field : {40, 32, 24}) {  // from the end: nodes, annotations, length
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0}, ~std::uint64_t{0} / 48}) {
      std::string bad = good;
      for (std::size_t i = 0; i < 8; ++i) bad[bad.size() - field + i] = static_cast<char>(value >> (8 * i) & 0xff);
      EXPECT_EQ(kind_thrown([&] { Manifest::parse(bad).check(); }), FailureKind::invalid) << field << " " << value;
    }
  }
}

}  // namespace
}  // namespace sabath
