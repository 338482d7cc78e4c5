// Bundles as strangers make them: each is refused with its own kind, within bounds, and what was published is right.
#include "fetch/archives/bundle.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "archive_maker.h"
#include "base/file.h"
#include "base/hash.h"
#include "fetch_bench.h"
#include "sabath/error.h"
#include "support/seeded.h"
#include "support/temp_dir.h"

namespace sabath::test {
namespace {

Fd file_with(const std::string& bytes) {
  Fd fd(::memfd_create("bundle", MFD_CLOEXEC));
  write_all_at(fd.get(), std::as_bytes(std::span(bytes)), 0, "bundle");
  return fd;
}

std::string run_name(const FileTree& tree, std::uint64_t first, std::uint64_t count) {
  return ChunkRun{tree.digest, first, count}.text();
}

struct Bundles : ::testing::Test {
  TempDir temp;
  std::unique_ptr<Store> store = Store::open(temp / "store", true);
  const std::string big = seeded_bytes(1, 0, 2 * chunk_size_bytes + 7), small = seeded_bytes(2, 0, 1000);
  const FileTree big_tree = tree_of(big), small_tree = tree_of(small);
  std::string manifest;
  Sha256 root;
  std::vector<TarMember> good;  // head, manifest, contents, the big file, the small one

  Bundles() {
    ManifestBuilder builder;
    builder.add_file(*RelativePath::try_parse("big"), big_tree.digest, big_tree.chunks);
    builder.add_file(*RelativePath::try_parse("small"), small_tree.digest, {});
    manifest = builder.bytes();
    root = Manifest::parse(manifest).root();
    good = {{"sabath-bundle.json", head(root.prefixed())},
            {"manifests/" + root.hex(), manifest},
            {"contents", run_name(big_tree, 0, 3) + "\n" + run_name(small_tree, 0, 1) + "\n"},
            {"objects/" + run_name(big_tree, 0, 3), big},
            {"objects/" + run_name(small_tree, 0, 1), small}};
  }

  static std::string head(const std::string& asset_root) {
    return R"({"format":"sabath-bundle","version":1,"assets":[{"name":"a","root":")" + asset_root +
           R"(","trusted_by":"","source":""}]})";
  }
  Imported read(int fd) { return read_bundle(*store, fd, {}, {}); }
  Imported read(const std::string& bytes) { return read(file_with(bytes).get()); }
  FailureKind refusal(const std::string& bytes) {
    try {
      (void)read(bytes);
    } catch (const Error& error) {
      return error.failure().kind;
    }
    ADD_FAILURE() << "it was believed";
    return FailureKind::internal;
  }
  FailureKind refusal(const std::vector<TarMember>& members) { return refusal(tar_of(members)); }
  void expect_sound() {
    EXPECT_TRUE(store->verify(nullptr, 1, {}).bad.empty());
    for (const auto& entry : std::filesystem::directory_iterator(temp.path())) EXPECT_EQ(entry.path(), temp / "store");
  }
};

TEST_F(Bundles, TakenWhole) {
  const Imported imported = read(tar_of(good));
  EXPECT_EQ(imported.bundle_bytes, big.size() + small.size());
  EXPECT_EQ(imported.assets.at(0).missing_files, 0U);
  EXPECT_EQ(read(archive_of(good, "ustar", "zstd")).present_bytes, big.size() + small.size());
  expect_sound();
}

TEST_F(Bundles, EveryCutIsRefusedAndTheNextOneGoesOn) {
  const std::string whole = tar_of(good);
  for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, std::size_t{511}, std::size_t{512}, whole.size() / 3,
                                whole.size() / 2, whole.size() - 2048}) {
    EXPECT_EQ(refusal(whole.substr(0, cut)), FailureKind::invalid) << cut;
  }
  EXPECT_GE(read(whole).present_bytes, chunk_size_bytes);
  expect_sound();
}

TEST_F(Bundles, NamesOfATarAreComparedAndNeverUsed) {
  for (const char* name : {"../../outside", "/outside", "objects/../../outside", ""}) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{2}, good.size()}) {
      auto members = good;
      members.insert(members.begin() + static_cast<std::ptrdiff_t>(at), {name, "x"});
      EXPECT_EQ(refusal(members), FailureKind::invalid) << name << " at " << at;
    }
  }
  expect_sound();
}

TEST_F(Bundles, OnlyRegularFiles) {
  for (const char type : {'1', '2', '3', '5', '6'}) {
    auto members = good;
    members[3].type = type;
    members[3].link = "/etc/passwd";
    members[3].content.clear();
    EXPECT_EQ(refusal(members), FailureKind::invalid) << type;
  }
  expect_sound();
}

TEST_F(Bundles, SizesThatLie) {
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const std::uint64_t size :
         {std::uint64_t{0}, std::uint64_t{good[i].content.size() - 1}, std::uint64_t{good[i].content.size() + 1},
          std::uint64_t{1} << 40, std::uint64_t{INT64_MAX}}) {
      auto members = good;
      members[i].size = size;
      EXPECT_NE(refusal(members), FailureKind::internal) << i << " says " << size;
    }
  }
  expect_sound();
}

TEST_F(Bundles, TwiceBackwardsTouchingAndUnnamed) {
  const std::string parts = run_name(big_tree, 0, 1) + "\n" + run_name(big_tree, 1, 2) + "\n";  // they touch
  const std::string stranger = run_name(tree_of("x"), 0, 1) + "\n";
  const std::string backwards = run_name(big_tree, 2, 1) + "\n" + run_name(big_tree, 0, 1) + "\n";
  const std::string apart =
      run_name(big_tree, 0, 1) + "\n" + run_name(small_tree, 0, 1) + "\n" + run_name(big_tree, 2, 1) + "\n";
  for (const std::string& contents :
       {parts, stranger, backwards, apart, good[2].content + good[2].content,
        good[2].content.substr(0, good[2].content.size() - 1), std::string("\n"), std::string(1 << 20, 'x')}) {
    auto members = good;
    members[2].content = contents;
    EXPECT_EQ(refusal(members), FailureKind::invalid) << contents.substr(0, 300);
  }
  auto members = good;
  members.insert(members.begin() + 4, good[3]);  // the same member twice
  EXPECT_EQ(refusal(members), FailureKind::invalid);
  expect_sound();
}

TEST_F(Bundles, WrongBytes) {
  for (const std::size_t at : {std::size_t{0}, std::size_t{chunk_size_bytes}, big.size() - 1}) {
    auto members = good;
    members[3].content[at] ^= 1;
    EXPECT_EQ(refusal(members), FailureKind::content) << at;
    EXPECT_FALSE(store->present(big_tree.digest));
  }
  auto members = good;
  members[4].content[5] ^= 1;
  EXPECT_EQ(refusal(members), FailureKind::content);
  EXPECT_FALSE(store->present(small_tree.digest));
  members = good;
  members[1].content[members[1].content.size() / 2] ^= 1;
  const FailureKind kind = refusal(members);
  EXPECT_TRUE(kind == FailureKind::invalid || kind == FailureKind::content);
  expect_sound();
}

// An endless stream is refused: each begins well, or states a length, and goes on for ever.
TEST_F(Bundles, EndlessStreams) {
  const std::string pax = tar_member({.name = "PaxHeaders/x", .type = 'x', .size = std::uint64_t{1} << 40});
  const std::string comments = tar_member({.name = "PaxHeaders/x", .content = "13 comment=x\n", .type = 'x'});
  const std::string first = tar_member(good[0]),
                    long_head = tar_member({.name = "sabath-bundle.json", .size = 1 << 30});
  for (const auto& [begin, again] :
       std::vector<std::pair<std::string, std::string>>{{pax, std::string(4096, 'x')},
                                                        {"", comments},
                                                        {long_head, std::string(4096, ' ')},
                                                        {"", first},
                                                        {"", pax}}) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    Fd input(ends[0]), output(ends[1]);
    std::jthread writer([&, begin = begin, again = again](const std::stop_token&) {
      std::signal(SIGPIPE, SIG_IGN);
      const auto write = [&](const std::string& bytes) {
        return ::write(output.get(), bytes.data(), bytes.size()) > 0;
      };
      if (write(begin) || begin.empty())
        while (write(again)) {}
    });
    EXPECT_THROW((void)read(input.get()), Error);
    input = Fd();  // the writer sees it
  }
  expect_sound();
}

TEST(ChunkRuns, OneSpelling) {
  const FileTree tree = tree_of(std::string(2 * chunk_size_bytes, 'x'));
  const std::string hex = tree.digest.hash.hex(), size = std::to_string(2 * chunk_size_bytes);
  EXPECT_EQ(try_parse_run(hex + "." + size + ".0+2"), (ChunkRun{tree.digest, 0, 2}));
  EXPECT_EQ(try_parse_run(hex + "." + size + ".1+1"), (ChunkRun{tree.digest, 1, 1}));
  EXPECT_EQ(try_parse_run(hex + ".0.0+0")->bytes(), 0U);
  for (const std::string& bad : {hex + "." + size + ".0+3", hex + "." + size + ".2+1", hex + "." + size + ".0+0",
                                 hex + "." + size + ".00+2", hex + "." + size + ".0+2 ", hex + "." + size + ".-0+2",
                                 hex + ".18446744073709551615.0+1", hex + "." + size, hex + ".", std::string()}) {
    EXPECT_FALSE(try_parse_run(bad)) << bad;
  }
}

}  // namespace
}  // namespace sabath::test
