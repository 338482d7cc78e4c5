#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "packs_fixture.h"
#include "store/pack_stream.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using Packs = PacksFixture;

TEST_F(Packs, HoldManySmallFilesInOne) {
  const auto digests = put_many();
  ASSERT_EQ(packs().size(), 1U);
  EXPECT_FALSE(fs::exists(directory / "objects"));
  EXPECT_TRUE(files_below(directory / "tmp").empty());
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < many; ++i) {
      ASSERT_TRUE(store->present(digests[i])) << i;
      ASSERT_TRUE(store->has(digests[i])) << i;
      ASSERT_EQ(text(digests[i]), content(i)) << i;
    }
    reopen();
  }
  EXPECT_FALSE(store->present(tree_of("nothing").digest));
  EXPECT_EQ(fs::status(packs()[0]).permissions() & fs::perms(0222), fs::perms::none);
  EXPECT_LT(fs::file_size(packs()[0]), many * many / 2) << "what can be compressed is";
}

TEST_F(Packs, KeepFewAndLargeFilesAsObjects) {
  const FileTree small = put("alone");
  EXPECT_TRUE(fs::exists(store->object_path(small.digest)));
  auto writer = store->write_object(many);
  writer->write(bytes_of(seeded_bytes(1, 0, (1 << 20) + 1)));
  const Digest large = writer->finish().digest;
  auto twice = store->write_object(many);
  twice->write(bytes_of("alone"));
  static_cast<void>(twice->finish());
  std::vector<std::unique_ptr<ObjectWriter>> group;
  group.push_back(std::move(writer));
  group.push_back(std::move(twice));
  store->publish(std::move(group), many);
  EXPECT_TRUE(fs::exists(store->object_path(large)));
  EXPECT_EQ(packs().size(), 1U) << "an object and packed: harmless";
  EXPECT_TRUE(files_below(directory / "tmp").empty());
}

TEST_F(Packs, ThatAreNotWantedBecomeFiles) {
  auto writer = store->write_object(many);
  writer->write(bytes_of("kept"));
  const Digest digest = writer->finish().digest;
  std::vector<std::unique_ptr<ObjectWriter>> group;
  group.push_back(std::move(writer));
  store->publish(std::move(group));
  EXPECT_EQ(object(digest), "kept");
}

TEST_F(Packs, OfAnOldStoreAreNone) {
  fs::remove(directory / "format");
  std::ofstream(directory / "format") << R"({"format":"sabath-store","version":1,"pack_threshold_bytes":0})";
  reopen();
  const auto digests = put_many();
  EXPECT_TRUE(packs().empty());
  EXPECT_EQ(files_below(directory / "objects").size(), many);
  EXPECT_TRUE(store->present(digests[7]));
}

std::size_t open_files() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), {}));
}

TEST_F(Packs, ThatWaitForTheirNamesAreClosedAndGoUnlessTheyGetThem) {
  const std::string bytes = seeded_bytes(3, 0, 1 << 20);
  std::vector<Digest> digests;
  for (const bool named : {false, true}) {
    PackStream stream(*store);
    const std::size_t before = open_files();
    int full = 0;
    for (std::size_t i = 0; full < 2; ++i) {
      const std::string content = std::to_string(i) + bytes.substr(0, bytes.size() - 20);
      const Digest digest = hash_content(bytes_of(content)).digest;
      if (named) digests.push_back(digest);
      if (!stream.add(digest, bytes_of(content))) continue;
      ++full;
      stream.seal_full();
    }
    EXPECT_EQ(open_files(), before);
    EXPECT_EQ(files_below(directory / "tmp").size(), 2U);
    EXPECT_TRUE(packs().empty());
    if (named) stream.publish_all();
  }
  EXPECT_TRUE(files_below(directory / "tmp").empty());
  EXPECT_EQ(packs().size(), 2U);
  for (const Digest& digest : digests) EXPECT_TRUE(store->present(digest));
}

TEST_F(Packs, OfManyWritersStandSideBySide) {
  constexpr std::size_t writers = 4;
  std::vector<std::vector<Digest>> all(writers);
  {
    std::vector<std::jthread> threads;
    for (std::size_t w = 0; w < writers; ++w) {
      threads.emplace_back([&, w] {
        const auto own = Store::open(directory, false);
        std::vector<std::unique_ptr<ObjectWriter>> group;
        for (std::size_t i = 0; i < many; ++i) {
          auto writer = own->write_object(many);
          writer->write(bytes_of(content(i, i % 3 == 0 ? 0 : w)));  // a third is common to all
          all[w].push_back(writer->finish().digest);
          group.push_back(std::move(writer));
        }
        own->publish(std::move(group), many);
      });
    }
  }
  for (const auto& digests : all) {
    for (const auto& digest : digests) EXPECT_TRUE(store->present(digest));
  }
  EXPECT_TRUE(store->verify(nullptr, 2, {}).bad.empty());
}

TEST_F(Packs, TamperedLoseOneMemberAndNotItsNeighbours) {
  const auto digests = put_many();
  const fs::path pack = packs()[0];
  tamper(pack, 100);
  reopen();
  std::size_t lost = 0;
  for (std::size_t i = 0; i < many; ++i) {
    if (!store->present(digests[i])) {
      ++lost;
    } else {
      EXPECT_EQ(text(digests[i]), content(i));
    }
  }
  EXPECT_EQ(lost, 1U);
  ASSERT_EQ(packs().size(), 1U);
  EXPECT_NE(packs()[0], pack);
  EXPECT_EQ(files_below(directory / "quarantine").size(), 1U);
  put_many();
  for (const auto& digest : digests) EXPECT_TRUE(store->present(digest));
}

TEST_F(Packs, WithADamagedHeadAreWrittenAnew) {
  const auto digests = put_many();
  tamper(packs()[0], 2);
  reopen();
  for (std::size_t i = 0; i < many; ++i) ASSERT_EQ(text(digests[i]), content(i)) << i;
  for (const auto& digest : digests) EXPECT_TRUE(store->present(digest));
  EXPECT_EQ(files_below(directory / "quarantine").size(), 1U);
  EXPECT_TRUE(store->verify(nullptr, 1, {}).bad.empty());
}

TEST_F(Packs, WithADamagedIndexGiveNothingWrong) {
  const auto digests = put_many();
  const fs::path pack = packs()[0];
  for (const std::uint64_t from_end : {1U, 30U, 40U, 64U * 10U}) {
    SCOPED_TRACE(from_end);
    tamper(pack, fs::file_size(pack) - from_end);
    reopen();
    for (std::size_t i = 0; i < 10; ++i) EXPECT_FALSE(store->present(digests[i]));
    tamper(pack, fs::file_size(pack) - from_end);  // and back
  }
  fs::permissions(pack, fs::perms::owner_write, fs::perm_options::add);
  fs::resize_file(pack, fs::file_size(pack) - 1);
  reopen();
  EXPECT_FALSE(store->present(digests[1]));
}

TEST_F(Packs, OfAnotherProcessAreFoundAtOnce) {
  const auto other = Store::open(directory, false);
  EXPECT_FALSE(other->present(tree_of(content(7)).digest));
  for (std::uint64_t salt = 0; salt < 5; ++salt) {
    const auto digests = put_many(salt * 10'000);
    EXPECT_TRUE(other->present(digests[9])) << salt;
  }
  const auto digests = put_many(0);
  for (const auto& pack : packs()) fs::remove(pack);
  reopen();
  std::size_t there = 0;
  for (const auto& digest : digests) there += store->present(digest) ? 1 : 0;
  EXPECT_EQ(there, 0U);
}

TEST_F(Packs, ThatArePurgedAreAbsent) {
  const auto digests = put_many();
  const auto other = Store::open(directory, false);
  EXPECT_TRUE(other->present(digests[3]));
  for (const auto& pack : packs()) fs::remove(pack);
  reopen();
  put_many();  // and made anew beside
  EXPECT_TRUE(other->present(digests[3]));
}

TEST_F(Packs, DistrustedAreRead) {
  const auto digests = put_many();
  store->distrust(digests[5]);
  EXPECT_TRUE(store->present(digests[5]));
  tamper(packs()[0], 100);
  for (const auto& digest : digests) store->distrust(digest);
  std::size_t lost = 0;
  for (const auto& digest : digests) lost += store->present(digest) ? 0 : 1;
  EXPECT_EQ(lost, 1U);
}

TEST_F(Packs, HaveViewsOnRequest) {
  const auto digests = put_many();
  ManifestBuilder builder;
  for (std::size_t i = 0; i < many; ++i)
    builder.add_file(RelativePath::parse("d" + std::to_string(i % 7) + "/f" + std::to_string(i)), digests[i], {},
                     i % 5 == 0);
  const auto manifest = *store->manifest(store->put_manifest(builder));
  EXPECT_TRUE(store->packed(manifest));
  EXPECT_FALSE(store->view_present(manifest));
  const auto view = store->make_view(manifest);
  EXPECT_TRUE(store->view_present(manifest));
  for (std::size_t i = 0; i < many; ++i) {
    const auto file = view / ("d" + std::to_string(i % 7)) / ("f" + std::to_string(i));
    ASSERT_EQ(read_file(file), content(i));
    const bool runs = (fs::status(file).permissions() & fs::perms::owner_exec) != fs::perms::none;
    EXPECT_EQ(runs, i % 5 == 0);
  }
  reopen();
  EXPECT_TRUE(store->view_present(manifest)) << "evidence of the copies";
}

}  // namespace
}  // namespace sabath::test
