#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "partials_fixture.h"

namespace sabath::test {
namespace {

TEST_F(Partials, UnknownIsWrittenInAnyOrder) {
  const auto partial = store->open_partial(key);
  std::vector<std::byte> read(2000);
  write(*partial, 2);
  EXPECT_EQ(partial->front(), 0U);
  EXPECT_EQ(partial->read(0, read), 0U);
  EXPECT_EQ(partial->read(2 * chunk_size_bytes, read), 2000U);
  EXPECT_EQ(partial->read(3 * chunk_size_bytes - 500, read), 500U);
  EXPECT_EQ(kind_of([&] { (void)partial->publish(); }), FailureKind::internal) << "it has a gap";
  EXPECT_EQ(partial->chunks_done(), (std::vector<bool>{false, false, true}));
  for (const std::uint64_t i : {1, 0, 3}) write(*partial, i);
  EXPECT_EQ(partial->front(), size);
  EXPECT_EQ(kind_of([&] { partial->write_chunk(0, 3, {}, {}); }), FailureKind::internal);
  EXPECT_EQ(partial->read(size - 500, read), 500U);
  const FileTree published = partial->publish();
  EXPECT_EQ(published.digest, tree.digest);
  EXPECT_EQ(published.chunks, tree.chunks);
  EXPECT_EQ(object(tree.digest), bytes);
  EXPECT_FALSE(store->has_partial(key));
}

TEST_F(Partials, UnknownIsResumedWithItsScratch) {
  {
    const auto partial = store->open_partial(key);
    partial->note_version(version, size);
    for (std::uint64_t i = 0; i < 2; ++i) write(*partial, i);
  }
  ASSERT_TRUE(store->has_partial(key));
  {
    const auto partial = store->open_partial(key);
    EXPECT_EQ(partial->version_noted(), version);
    std::string teed;
    partial->adopt_front(version, [&](std::span<const std::byte> piece) {
      teed.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    });
    EXPECT_EQ(partial->front(), 2 * chunk_size_bytes);
    EXPECT_EQ(teed, bytes.substr(0, 2 * chunk_size_bytes));
    EXPECT_FALSE(store->has_partial(key));  // it is open here
    partial->write_scratch(0, 2, 0, chunk(2).first(60'000), 60'000);
    std::this_thread::sleep_for(ScratchLanes::worth_keeping);
    partial->write_scratch(0, 2, 0, chunk(2).first(70'000), 10'000);
  }
  const auto partial = store->open_partial(key);
  partial->adopt_front(version, [](std::span<const std::byte>) {});
  const auto start = start_of(partial->adopt_scratch(2));
  EXPECT_TRUE(std::ranges::equal(start, chunk(2).first(70'000)));
  for (const std::uint64_t i : {2, 3}) write(*partial, i);
  EXPECT_EQ(partial->publish().digest, tree.digest);
}

TEST_F(Partials, UnknownKeepsTheShortLastChunk) {
  {
    const auto partial = store->open_partial(key);
    for (std::uint64_t i = 0; i < 4; ++i) write(*partial, i);
  }
  for (int again = 0; again < 2; ++again) {
    const auto partial = store->open_partial(key);
    partial->adopt_front({}, [](std::span<const std::byte>) {});
    EXPECT_EQ(partial->front(), 3 * chunk_size_bytes);
    EXPECT_TRUE(std::ranges::equal(start_of(partial->adopt_scratch(3)), chunk(3)));
  }
}

TEST_F(Partials, UnknownStopsAtTheFirstMismatch) {
  {
    const auto partial = store->open_partial(key);
    for (std::uint64_t i = 0; i < 3; ++i) write(*partial, i);
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory / "partial")) {
    if (entry.path().filename() == "data") tamper(entry.path(), chunk_size_bytes + 9);
  }
  const auto partial = store->open_partial(key);
  partial->adopt_front({}, [](std::span<const std::byte>) {});
  EXPECT_EQ(partial->front(), chunk_size_bytes);
  for (const std::uint64_t i : {1, 2, 3}) write(*partial, i);
  EXPECT_EQ(partial->publish().digest, tree.digest);
  EXPECT_EQ(object(tree.digest), bytes);
}

TEST_F(Partials, UnknownOfAnotherVersionIsThrownAway) {
  {
    const auto partial = store->open_partial(key);
    partial->note_version(version, size);
    write(*partial, 0);
  }
  const auto partial = store->open_partial(key);
  partial->adopt_front({{"\"v2\"", ""}, "somebody"}, [](std::span<const std::byte>) { FAIL(); });
  EXPECT_EQ(partial->front(), 0U);
  EXPECT_TRUE(partial->version_noted().validators.empty());
  write(*partial, 0);
  partial->restart();
  EXPECT_EQ(partial->front(), 0U);
  partial->discard();
  EXPECT_TRUE(files_below(directory / "partial").empty());
}

TEST_F(Partials, UnknownThatIsNotLookedAtIsBegunAnew) {
  {
    const auto partial = store->open_partial(key);
    for (std::uint64_t i = 0; i < 3; ++i) write(*partial, i);
  }
  const auto partial = store->open_partial(key);
  write(*partial, 0);
  EXPECT_EQ(partial->publish().digest, tree_of(bytes.substr(0, chunk_size_bytes)).digest);
}

}  // namespace
}  // namespace sabath::test
