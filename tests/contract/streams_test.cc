// Many small requests on few connections: streams of HTTP/2 from nginx, and what servers do without it.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "reading.h"
#include "support/nginx.h"
#include "support/seeded.h"
#include "support/temp_dir.h"

namespace sabath::test {
namespace {

using namespace std::chrono_literals;

class HttpStreams : public testing::Test {
 protected:
  void SetUp() override {
    if (!Nginx::available()) GTEST_SKIP() << "nginx is not installed";
    for (std::uint64_t i = 0; i < files; ++i) write_seeded_file(root / fmt::format("f{}", i), i, size_of(i));
  }
  static std::uint64_t size_of(std::uint64_t i) { return i * 733; }
  static std::unique_ptr<FetcherSet> fetchers_of(const Nginx& server, long stall_timeout_ms = 30'000) {
    return make_fetchers(
        {.user_agent = "sabath-test", .ca_file = server.ca_file(), .stall_timeout_ms = stall_timeout_ms});
  }
  struct Sum {
    std::uint64_t wrong = 0, requests = 0, bytes = 0;
  };
  // All files, by `threads` threads at once.
  static Sum read_all(FetcherSet& fetchers, const Nginx& server, unsigned threads) {
    std::atomic<std::uint64_t> next{0}, wrong{0}, requests{0}, bytes{0};
    {
      std::vector<std::jthread> readers;
      for (unsigned t = 0; t < threads; ++t) {
        readers.emplace_back([&] {
          for (std::uint64_t i = next++; i < files; i = next++) {
            const Reading reading = read(fetchers, server.url(fmt::format("/f{}", i)), {.one_of_many = true});
            if (reading.bytes != seeded_bytes(i, 0, size_of(i)) || reading.failure) ++wrong;
            if (reading.failure) ADD_FAILURE() << reading.message();
            requests += reading.requests;
            bytes += reading.traffic_bytes;
          }
        });
      }
    }
    return {wrong, requests, bytes};
  }
  static std::set<std::uint64_t> connections_of(const std::vector<LoggedRequest>& log) {
    std::set<std::uint64_t> connections;
    for (const LoggedRequest& request : log) connections.insert(request.connection);
    return connections;
  }
  static std::set<std::string> protocols_of(const std::vector<LoggedRequest>& log) {
    std::set<std::string> protocols;
    for (const LoggedRequest& request : log) protocols.insert(request.protocol);
    return protocols;
  }

  static constexpr std::uint64_t files = 400;
  TempDir root;
};

TEST_F(HttpStreams, ManyFilesShareFewConnections) {
  Nginx server({.root = root.path(), .tls_name = "localhost", .http2 = true});
  const auto set = fetchers_of(server);
  const Sum sum = read_all(*set, server, 40);
  const auto log = server.log(sum.requests);
  EXPECT_EQ(sum.wrong, 0u);
  EXPECT_EQ(sum.requests, files);
  EXPECT_EQ(log.size(), sum.requests);
  EXPECT_EQ(body_bytes(log), sum.bytes);
  EXPECT_EQ(protocols_of(log), std::set<std::string>{"HTTP/2.0"});
  EXPECT_LE(connections_of(log).size(), 4u) << "for 40 readers";
}

// nginx says GOAWAY, with requests on their way to it.
TEST_F(HttpStreams, AServerThatEndsItsConnectionsEarly) {
  Nginx server({.root = root.path(), .tls_name = "localhost", .http2 = true, .requests_max = 20});
  const auto set = fetchers_of(server);
  const Sum sum = read_all(*set, server, 24);
  const auto log = server.log(files);
  EXPECT_EQ(sum.wrong, 0u);
  EXPECT_LE(sum.requests, 2 * files) << "what it did not answer was asked again";
  EXPECT_GE(body_bytes(log), sum.bytes);
  EXPECT_GE(connections_of(log).size(), files / 20);
  EXPECT_LE(connections_of(log).size(), files / 8);
}

TEST_F(HttpStreams, AServerWithoutThemIsAskedAsEver) {
  Nginx server({.root = root.path(), .tls_name = "localhost"});
  const auto set = fetchers_of(server);
  const Sum sum = read_all(*set, server, 8);
  const auto log = server.log(sum.requests);
  EXPECT_EQ(sum.wrong, 0u);
  EXPECT_EQ(sum.requests, files);
  EXPECT_EQ(body_bytes(log), sum.bytes);
  EXPECT_EQ(protocols_of(log), std::set<std::string>{"HTTP/1.1"});
  EXPECT_LE(connections_of(log).size(), 16u) << "some before that was known";
}

TEST_F(HttpStreams, AnswersOfEveryKindComeSideBySide) {
  Nginx server({.root = root.path(),
                .tls_name = "localhost",
                .http2 = true,
                .redirects = {{"/moved", "/f9"}},
                .denied = "/denied",
                .login = "/login"});
  const auto set = fetchers_of(server);
  std::vector<std::jthread> readers;
  for (int t = 0; t < 8; ++t) {
    readers.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const auto get = [&](const char* path) { return read(*set, server.url(path), {.one_of_many = true}); };
        EXPECT_EQ(get("/absent").kind(), FailureKind::unavailable);
        EXPECT_EQ(get("/denied/x").kind(), FailureKind::access);
        EXPECT_EQ(get("/login/x").kind(), FailureKind::access);
        EXPECT_EQ(get("/moved").bytes, seeded_bytes(9, 0, size_of(9)));
        EXPECT_EQ(get("/f0").begins, 1);
      }
    });
  }
  readers.clear();
  EXPECT_LE(connections_of(server.log(8 * 20 * 6)).size(), 4u) << "refusals must not cost the connection";
}

// A reader that does not take its bytes is paused: the others of its connection go on, and memory is bounded.
TEST_F(HttpStreams, ASlowReaderHoldsUpNobody) {
  constexpr std::uint64_t size = 40'000'000;
  write_seeded_file(root / "large", 1, size);
  Nginx server({.root = root.path(), .tls_name = "localhost", .http2 = true});
  const auto set = fetchers_of(server, 2'000);
  std::atomic<bool> go_on{false}, begun{false};
  std::jthread slow([&] {
    const Reading reading = read(*set, server.url("/large"),
                                 {.on_write =
                                      [&] {
                                        begun = true;
                                        while (!go_on) std::this_thread::sleep_for(1ms);
                                      },
                                  .one_of_many = true});
    EXPECT_EQ(reading.failure, std::nullopt) << reading.message();
    EXPECT_TRUE(reading.bytes == seeded_bytes(1, 0, size));
  });
  while (!begun) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(3s);  // longer than a server may say nothing
  EXPECT_EQ(read_all(*set, server, 8).wrong, 0u);
  EXPECT_LE(body_bytes(server.log(files)), files * size_of(files)) << "the large one is not over";
  go_on = true;
  slow.join();
  EXPECT_LE(connections_of(server.log(files + 1)).size(), 1u);
}

TEST_F(HttpStreams, AStopEndsAllOfThem) {
  write_seeded_file(root / "large", 1, 1'000'000);
  Nginx server({.root = root.path(), .tls_name = "localhost", .http2 = true, .limit_rate = "1000"});
  const auto set = fetchers_of(server);
  std::stop_source stop;
  std::vector<std::jthread> readers;
  for (int t = 0; t < 20; ++t) {
    readers.emplace_back([&] {
      const Reading reading = read(*set, server.url("/large"), {.stop = stop.get_token(), .one_of_many = true});
      EXPECT_EQ(reading.kind(), FailureKind::interrupted) << reading.message();
    });
  }
  std::this_thread::sleep_for(300ms);
  const auto asked = std::chrono::steady_clock::now();
  stop.request_stop();
  readers.clear();
  EXPECT_LT(std::chrono::steady_clock::now() - asked, 30s);
}

TEST_F(HttpStreams, AServerThatIsKilledIsSaid) {
  write_seeded_file(root / "large", 1, 1'000'000);
  Nginx server({.root = root.path(), .tls_name = "localhost", .http2 = true, .limit_rate = "1000"});
  const auto set = fetchers_of(server);
  std::vector<std::jthread> readers;
  for (int t = 0; t < 20; ++t) {
    readers.emplace_back([&] {
      const Reading reading = read(*set, server.url("/large"), {.one_of_many = true});
      EXPECT_EQ(reading.kind(), FailureKind::network) << reading.message();
    });
  }
  std::this_thread::sleep_for(300ms);
  server.kill();
  readers.clear();
}

}  // namespace
}  // namespace sabath::test
