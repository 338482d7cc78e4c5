// The promises of every fetcher (include/sabath/fetcher.h), against a real server of its protocol.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <latch>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "origin.h"
#include "reading.h"
#include "sabath/digest.h"
#include "support/seeded.h"
#include "support/temp_dir.h"

namespace sabath::test {
namespace {

class Contract : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string reason = Origin::unavailable_because(GetParam());
    if (!reason.empty()) GTEST_SKIP() << reason;
    std::filesystem::create_directory(root);
    serve();
  }

  void serve(std::uint64_t rate = 0) {
    fetchers.reset();
    origin.reset();
    origin = std::make_unique<Origin>(GetParam(), root, rate);
    fetchers = make_fetchers(origin->settings());
  }

  Reading get(std::string_view path, ReadOptions options = {}) {
    options.one_of_many = is("https+h2");  // only such requests are streams of HTTP/2
    return read(*fetchers, origin->url(path), options);
  }
  bool is(std::string_view scheme) const { return GetParam() == scheme; }
  // Fetchers that name content by its hash.
  bool is_by_hash() const { return is("sabath") || is("sabath+tls") || is("oci") || is("lfs+http"); }
  // Fetchers that look again at the file's size and time after a read.
  bool asks_again() const { return is("file") || is("sftp") || is("sftp+ssh") || is("scp"); }

  TempDir directory;
  std::filesystem::path root = directory / "root";
  std::unique_ptr<Origin> origin;
  std::unique_ptr<FetcherSet> fetchers;
};

TEST_P(Contract, WholeFilesOfEverySize) {
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, chunk_size_bytes, chunk_size_bytes + 1}) {
    write_seeded_file(root / "f", size, size);
    if (origin->asks_first()) static_cast<void>(get("/f"));
    const Reading reading = get("/f");
    ASSERT_EQ(reading.kind(), std::nullopt) << reading.message();
    EXPECT_TRUE(reading.bytes == seeded_bytes(size, 0, size)) << size;
    EXPECT_EQ(reading.begins, 1);
    EXPECT_EQ(reading.info.size_bytes, size);
    EXPECT_TRUE(reading.info.ranges);
    EXPECT_FALSE(reading.info.validators.empty());
    EXPECT_EQ(reading.info.final_url, origin->final_url("/f"));
    EXPECT_EQ(reading.requests, is("hf") ? 2u : 1u);  // the hub leads on
    EXPECT_GE(reading.traffic_bytes, size);
    EXPECT_LE(reading.traffic_bytes, size + (is("hf") ? 200 : 0)) << "more than what a redirect says";
  }
}

TEST_P(Contract, RangesAtTheEdges) {
  const std::uint64_t size = chunk_size_bytes + 1;
  write_seeded_file(root / "f", 7, size);
  struct Case {
    std::uint64_t offset;
    std::optional<std::uint64_t> length;
    std::uint64_t expected;
  };
  const Case cases[] = {{0, 1, 1},
                        {0, size, size},
                        {1, size - 1, size - 1},
                        {size - 1, 1, 1},
                        {size - 1, 9, 1},
                        {size - 1, {}, 1},
                        {chunk_size_bytes - 1, 2, 2},
                        {size, {}, 0},
                        {size, 5, 0},
                        {0, 0, 0},
                        {17, 0, 0},
                        {0, UINT64_MAX, size},
                        {5, {}, size - 5},
                        {1000, 64 * 1024, 64 * 1024}};
  for (const Case& c : cases) {
    const Reading reading = get("/f", {.offset = c.offset, .length = c.length});
    ASSERT_EQ(reading.kind(), std::nullopt) << c.offset << ": " << reading.message();
    EXPECT_TRUE(reading.bytes == seeded_bytes(7, c.offset, c.expected)) << c.offset << ' ' << reading.bytes.size();
    EXPECT_EQ(reading.begins, 1);
    EXPECT_EQ(reading.info.size_bytes, size) << c.offset;
  }
}

TEST_P(Contract, OffsetBeyondTheEnd) {
  write_seeded_file(root / "f", 7, 10);
  EXPECT_EQ(get("/f", {.offset = 11}).kind(), FailureKind::unavailable);
  EXPECT_EQ(get("/f", {.offset = 11, .length = 4}).kind(), FailureKind::unavailable);
}

TEST_P(Contract, EmptyFileByRange) {
  write_file(root / "f", "");
  const Reading reading = get("/f", {.length = 100});
  EXPECT_EQ(reading.kind(), std::nullopt) << reading.message();
  EXPECT_EQ(reading.begins, 1);
  EXPECT_EQ(reading.bytes, "");
  EXPECT_EQ(reading.info.size_bytes, 0u);
}

TEST_P(Contract, WhatIsNotThereIsUnavailable) {
  const Reading reading = get("/absent");
  EXPECT_EQ(reading.kind(), FailureKind::unavailable) << reading.message();
  EXPECT_EQ(reading.begins, 0);
  EXPECT_NE(reading.message().find(Url::parse(origin->url("/absent")).display()), std::string::npos)
      << reading.message();
}

TEST_P(Contract, NamesInUnicodeWithSpaces) {
  if (is_by_hash()) GTEST_SKIP() << "its hash is the only name that content has";
  std::filesystem::create_directory(root / "übung 1");
  write_seeded_file(root / "übung 1" / "数据 #%.bin", 3, 1000);
  const Reading reading = get("/%C3%BCbung%201/%E6%95%B0%E6%8D%AE%20%23%25.bin");
  ASSERT_EQ(reading.kind(), std::nullopt) << reading.message();
  EXPECT_TRUE(reading.bytes == seeded_bytes(3, 0, 1000));
}

TEST_P(Contract, FilesBeyondFourGiB) {
  const std::uint64_t size = 5ull << 30;
  write_file(root / "f", "");
  std::filesystem::resize_file(root / "f", size - 4);
  std::ofstream(root / "f", std::ios::app) << "tail";
  const Reading reading = get("/f", {.offset = size - 8, .length = 100});
  ASSERT_EQ(reading.kind(), std::nullopt) << reading.message();
  EXPECT_EQ(reading.bytes, std::string(4, '\0') + "tail");
  EXPECT_EQ(reading.info.size_bytes, size);
}

TEST_P(Contract, ANewVersionIsNoticed) {
  if (is_by_hash()) GTEST_SKIP() << "content has one version: its name is its hash";
  write_seeded_file(root / "f", 1, 1000);
  const Validators begun = get("/f", {.length = 10}).info.validators;
  EXPECT_EQ(get("/f", {.offset = 10, .expected = begun}).kind(), std::nullopt);
  write_seeded_file(root / "f", 2, 2000);
  for (const auto offset : {0u, 10u, 1500u}) {
    const Reading reading = get("/f", {.offset = offset, .expected = begun});
    EXPECT_EQ(reading.kind(), FailureKind::changed) << reading.message();
    EXPECT_EQ(reading.begins, 0);
  }
  write_seeded_file(root / "f", 3, 5);
  EXPECT_EQ(get("/f", {.offset = 10, .expected = begun}).kind(), FailureKind::changed);
}

TEST_P(Contract, ASourceThatEndsInTheMiddle) {
  write_seeded_file(root / "f", 1, 8 << 20);
  serve(is("file") ? 0 : 1 << 20);
  const Reading reading = get("/f", {.on_write = [&] {
                                origin->kill();
                                if (is("file")) std::filesystem::resize_file(root / "f", 100);
                              }});
  EXPECT_EQ(reading.kind(), is("file") ? FailureKind::changed : FailureKind::network) << reading.message();
  EXPECT_LT(reading.bytes.size(), 8u << 20);
  EXPECT_TRUE(reading.bytes == seeded_bytes(1, 0, reading.bytes.size()));
}

TEST_P(Contract, StopsAtOnce) {
  write_file(root / "f", "");
  std::filesystem::resize_file(root / "f", 64 << 20);
  serve(is("file") ? 0 : 1 << 20);
  std::stop_source source;
  std::latch begun(1);
  bool first = true;
  std::chrono::steady_clock::time_point stopped;
  std::jthread stopper([&] {
    begun.wait();
    stopped = std::chrono::steady_clock::now();
    source.request_stop();
  });
  const Reading reading = get("/f", {.on_write =
                                         [&] {
                                           if (std::exchange(first, false)) begun.count_down();
                                           while (is("file") && !source.stop_requested()) std::this_thread::yield();
                                         },
                                     .stop = source.get_token()});
  if (std::exchange(first, false)) begun.count_down();
  stopper.join();
  EXPECT_LT(std::chrono::steady_clock::now() - stopped, std::chrono::seconds(30));  // all of it would take a minute
  EXPECT_EQ(reading.kind(), FailureKind::interrupted) << reading.message();
  EXPECT_EQ(get("/f", {.stop = source.get_token()}).kind(), FailureKind::interrupted);
}

TEST_P(Contract, ASlowSourceIsNotAStalledOne) {
  if (is("file")) GTEST_SKIP() << "bytes come at the disk's rate";
  constexpr auto stall = std::chrono::milliseconds(2000);  // servers keep to their rate by pauses of up to a second
  const std::uint64_t size = 1 << 20;
  write_seeded_file(root / "f", 4, size);
  serve(size / 4);
  FetcherSettings settings = origin->settings();
  settings.stall_timeout_ms = stall.count();
  fetchers = make_fetchers(settings);
  const auto start = std::chrono::steady_clock::now();
  const Reading reading = get("/f");
  ASSERT_EQ(reading.kind(), std::nullopt) << reading.message();
  EXPECT_TRUE(reading.bytes == seeded_bytes(4, 0, size));
  EXPECT_GT(std::chrono::steady_clock::now() - start, stall) << "it was not slow";
}

TEST_P(Contract, AFileThatIsCutShortWhileItIsRead) {
  if (is_by_hash()) GTEST_SKIP() << "content has one version: its name is its hash";
  const std::uint64_t size = 16 << 20;
  write_seeded_file(root / "f", 1, size);
  serve(size / 2);
  const Reading reading = get("/f", {.on_write = [&] { std::filesystem::resize_file(root / "f", 100); }});
  EXPECT_EQ(reading.kind(), asks_again() ? FailureKind::changed : FailureKind::network) << reading.message();
  EXPECT_LT(reading.bytes.size(), size);
}

TEST_P(Contract, AFileThatGrowsWhileItIsRead) {
  if (is_by_hash()) GTEST_SKIP() << "content has one version: its name is its hash";
  const std::uint64_t size = 16 << 20;
  write_seeded_file(root / "f", 1, size);
  serve(size / 2);
  const Reading reading = get("/f", {.on_write = [&] { std::filesystem::resize_file(root / "f", 2 * size); }});
  EXPECT_EQ(reading.kind(), asks_again() ? std::optional(FailureKind::changed) : std::nullopt) << reading.message();
  EXPECT_TRUE(reading.bytes == seeded_bytes(1, 0, size)) << "and nothing of what was added";
}

TEST_P(Contract, ManyThreadsAtOnce) {
  const std::uint64_t size = chunk_size_bytes + 1;
  write_seeded_file(root / "f", 5, size);
  const std::string whole = seeded_bytes(5, 0, size);
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> lanes;
    for (unsigned lane = 0; lane < 4; ++lane) {
      lanes.emplace_back([&, lane] {
        for (unsigned i = 0; i < 6; ++i) {
          const std::uint64_t offset = (lane * 1'000'003 + i * 500'009) % size;
          const Reading reading = get("/f", {.offset = offset, .length = 300'000});
          EXPECT_EQ(reading.kind(), std::nullopt) << reading.message();
          if (reading.bytes == whole.substr(offset, 300'000)) ++good;
        }
      });
    }
  }
  EXPECT_EQ(good, 24);
}

TEST_P(Contract, WhatTheSinkThrowsComesBackUnchanged) {
  write_seeded_file(root / "f", 1, 1 << 20);
  struct Mine {
    int value;
  };
  try {
    static_cast<void>(get("/f", {.on_write = [] { throw Mine{42}; }}));
    FAIL() << "nothing was thrown";
  } catch (const Mine& mine) {
    EXPECT_EQ(mine.value, 42);
  }
  const Reading refused = get("/f", {.on_write = [] { throw Error(FailureKind::space, "disk full"); }});
  EXPECT_EQ(refused.kind(), FailureKind::space);
  EXPECT_EQ(refused.message(), "disk full / ");
  EXPECT_EQ(get("/f").kind(), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Fetchers, Contract,
                         testing::Values("http", "https", "https+h2", "ftp", "ftps", "file", "sftp", "sftp+ssh", "scp",
                                         "s3", "hf", "oci", "lfs+http", "globus", "sabath", "sabath+tls"),
                         [](const auto& param_info) {
                           std::string name = param_info.param;
                           std::replace(name.begin(), name.end(), '+', '_');
                           return name;
                         });

}  // namespace
}  // namespace sabath::test
