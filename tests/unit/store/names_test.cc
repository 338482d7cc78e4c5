#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "store/disk/layout.h"
#include "store/disk/ref_file.h"
#include "store/disk/writer.h"
#include "store_fixture.h"

namespace sabath::test {
namespace {

using Names = StoreFixture;

Ref some_ref() {
  return {sha256("root"), "first use over TLS", {"\"e\"", "Mon"}, 1'700'000'000, "https://a.example/f", "note \"é\""};
}

TEST_F(Names, RefsAreReadBackAndDamageIsAbsence) {
  const Sha256 key = sha256("key");
  EXPECT_FALSE(store->ref(key));
  store->put_ref(key, some_ref());
  const auto ref = store->ref(key);
  ASSERT_TRUE(ref);
  EXPECT_EQ(ref->root, some_ref().root);
  EXPECT_EQ(ref->validators, some_ref().validators);
  EXPECT_EQ(ref->note, some_ref().note);
  EXPECT_EQ(ref->time, some_ref().time);
  const std::string good = encode_ref(some_ref());
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(try_decode_ref(bad)) << bad;
  }
  write_file(Layout(directory).ref(key), std::string(100'000, ' '));
  EXPECT_FALSE(store->ref(key));
}

TEST_F(Names, AliasesAreReadBackAndDamageIsAbsence) {
  const Digest digest = tree_of("abc").digest;
  const std::string md5(32, 'a');
  EXPECT_FALSE(store->alias("md5", md5));
  store->put_alias("md5", md5, digest);
  EXPECT_EQ(store->alias("md5", md5), digest);
  const std::string good = encode_alias(digest);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(try_decode_alias(bad)) << bad;
  }
  for (const auto& [algorithm, hex] : std::vector<std::pair<std::string, std::string>>{{"md5", "../../../etc"},
                                                                                       {"md5", std::string(31, 'a')},
                                                                                       {"crc32", std::string(8, 'a')},
                                                                                       {"md5", std::string(32, 'A')}}) {
    EXPECT_EQ(kind_of([&, &a = algorithm, &h = hex] { (void)store->alias(a, h); }), FailureKind::invalid);
  }
}

void fill(ManifestBuilder& builder, const std::string& note) {
  builder.add_file(RelativePath::parse("a/b"), tree_of("x").digest, {});
  builder.add_checksums(RelativePath::parse("a/b"), {.md5 = std::string(32, 'a')});
  if (!note.empty()) builder.set_note(note);
}

TEST_F(Names, AStandingNoteStays) {
  const auto put = [this](const std::string& note) {
    ManifestBuilder builder;
    fill(builder, note);
    return store->put_manifest(builder);
  };
  const auto put_bytes = [this](const std::string& note, const Sha256& root) {
    ManifestBuilder builder;
    fill(builder, note);
    return store->put_manifest(builder.bytes(), root);
  };
  const auto told = [this](const Sha256& root) { return store->manifest(root)->note(); };
  const std::string ours = R"({"derived":1})", later = R"({"derived":2})", others = R"({"derived":3})";
  const Sha256 root = put(ours);
  EXPECT_EQ(put(""), root);
  EXPECT_EQ(told(root), ours) << "adopted or fetched again";
  for (const auto& note : {std::string(), others}) EXPECT_EQ(put_bytes(note, root), root);
  EXPECT_EQ(told(root), ours) << "brought by another";
  EXPECT_EQ(store->manifest(root)->checksums().size(), 1U);
  EXPECT_EQ(put(later), root);
  EXPECT_EQ(told(root), later);
}

TEST_F(Names, ManifestsAreChecked) {
  ManifestBuilder builder;
  builder.add_file(RelativePath::parse("a/b"), tree_of("x").digest, {});
  const std::string bytes = builder.bytes();
  const Sha256 root = Manifest::parse(bytes).root();
  EXPECT_FALSE(store->manifest(root));
  EXPECT_EQ(kind_of([&] { store->put_manifest(bytes, sha256("other")); }), FailureKind::content);
  EXPECT_EQ(kind_of([&] { store->put_manifest(bytes.substr(1), root); }), FailureKind::invalid);
  EXPECT_FALSE(store->manifest(root));
  EXPECT_EQ(store->put_manifest(bytes, root), root);
  EXPECT_EQ(store->put_manifest(builder), root);
  ASSERT_TRUE(store->manifest(root));
  EXPECT_EQ(store->manifest(root)->totals().files, 1U);
  EXPECT_TRUE(files_below(directory / "tmp").empty());
}

TEST_F(Names, RecordsAreLines) {
  store->append_record("{\"a\":1}");
  store->append_record("{\"a\":2}");
  const auto files = files_below(directory / "records");
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(read_file(directory / "records" / files[0]), "{\"a\":1}\n{\"a\":2}\n");
}

TEST(Open, RefusesWhatIsNoStore) {
  const TempDir temp;
  EXPECT_EQ(kind_of([&] { (void)Store::open(temp / "absent", false); }), FailureKind::not_found);
  std::filesystem::create_directory(temp / "full");
  write_file(temp / "full" / "thesis.tex", "years of work");
  EXPECT_EQ(kind_of([&] { (void)Store::open(temp / "full", true); }), FailureKind::invalid);
  write_file(temp / "file", "x");
  EXPECT_EQ(kind_of([&] { (void)Store::open(temp / "file", true); }), FailureKind::storage);
  EXPECT_EQ(files_below(temp / "full").size(), 1U);
}

TEST(Open, RefusesNewerAndDamagedFormats) {
  const TempDir temp;
  (void)Store::open(temp / "s", true);
  const auto format = nlohmann::json::parse(read_file(temp / "s" / "format"));
  EXPECT_EQ(format, nlohmann::json::parse(R"({"format":"sabath-store","version":1,"pack_threshold_bytes":1048576})"));
  for (const std::string& bad : std::vector<std::string>{"", "{", "[]", "{\"format\":\"sabath-store\",\"version\":2}",
                                                         "{\"format\":\"other\",\"version\":1}",
                                                         "{\"format\":\"sabath-store\",\"version\":\"1\"}"}) {
    write_file(temp / "s" / "format", bad);
    EXPECT_EQ(kind_of([&] { (void)Store::open(temp / "s", true); }), FailureKind::invalid) << bad;
  }
}

// As cleaners of /tmp leave a node's store that was not used for long.
TEST(Open, AFormatFileThatIsGoneComesBack) {
  const TempDir temp;
  write_file(temp / "file", "kept");
  const Digest content = Store::open(temp / "s", true)->adopt(temp / "file", false, {}).digest;
  std::filesystem::remove(temp / "s" / "format");
  EXPECT_EQ(kind_of([&] { (void)Store::open(temp / "s", false); }), FailureKind::not_found);
  EXPECT_TRUE(Store::open(temp / "s", true)->present(content));
  std::filesystem::remove(temp / "s" / "format");
  write_file(temp / "s" / "HEAD", "ref: refs/heads/main");  // git's directories have some of the same names
  EXPECT_EQ(kind_of([&] { (void)Store::open(temp / "s", true); }), FailureKind::invalid);
}

TEST(Open, IsMadeByManyAtOnce) {
  const TempDir temp;
  std::vector<std::unique_ptr<ChildProcess>> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(std::make_unique<ChildProcess>(
        child_command({"object", temp / "s", std::to_string(i % 2), "100000"}), temp / ("log" + std::to_string(i))));
  }
  for (auto& child : children) EXPECT_EQ(child->wait(), 0);
  EXPECT_EQ(Store::open(temp / "s", false)->verify(nullptr, 1, {}).files, 2U);
}

TEST(Open, RemovesWhatTheDeadLeft) {
  const TempDir temp;
  auto store = Store::open(temp / "s", true);
  WriterId dead = WriterId::of_this_process();
  ++dead.start_time;
  WriterId foreign = WriterId::of_this_process();
  foreign.host.name = "elsewhere";
  for (const auto& writer : {dead, foreign}) {
    std::filesystem::create_directories(temp / "s" / "tmp" / writer.text());
    write_file(temp / "s" / "tmp" / writer.text() / "0", "half");
  }
  (void)store->make_temporary_directory();
  EXPECT_FALSE(std::filesystem::exists(temp / "s" / "tmp" / dead.text()));
  EXPECT_TRUE(std::filesystem::exists(temp / "s" / "tmp" / foreign.text()));
}

}  // namespace
}  // namespace sabath::test
