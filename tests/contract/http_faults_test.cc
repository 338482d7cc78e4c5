// Faults of HTTP servers, each with the one kind of failure that it must become.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <latch>
#include <thread>

#include "reading.h"
#include "support/fault_server.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

constexpr std::uint64_t size = 100'000;  // of the fault server's bodies
constexpr std::optional<std::uint64_t> none;
constexpr std::optional<FailureKind> success;

class HttpFaults : public testing::Test {
 protected:
  Reading get(const std::string& target, const ReadOptions& options = {}) {
    return read(*fetchers, server.url(target), options);
  }

  FaultServer server;
  std::unique_ptr<FetcherSet> fetchers =
      make_fetchers({.user_agent = "sabath-test", .ca_file = {}, .stall_timeout_ms = 400});
};

// Its queue is full and it accepts no connection, so that the kernel does not answer a further attempt to connect.
class ListenerThatIsFull {
 public:
  ListenerThatIsFull() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address_;
    auto* generic = reinterpret_cast<sockaddr*>(&address_);
    if (bind(listener_, generic, length) != 0 || listen(listener_, 0) != 0 ||
        getsockname(listener_, generic, &length) != 0) {
      ADD_FAILURE() << "cannot listen";
    }
    for (int& fd : waiting_) {
      fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      static_cast<void>(connect(fd, generic, length));
    }
  }
  ~ListenerThatIsFull() {
    for (const int fd : waiting_) close(fd);
    close(listener_);
  }
  ListenerThatIsFull(const ListenerThatIsFull&) = delete;
  ListenerThatIsFull& operator=(const ListenerThatIsFull&) = delete;
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(ntohs(address_.sin_port)) + "/f";
  }

 private:
  int listener_;
  int waiting_[4] = {-1, -1, -1, -1};
  sockaddr_in address_{};
};

struct Case {
  std::string target;
  std::uint64_t offset;
  std::optional<std::uint64_t> length;
  std::optional<FailureKind> kind;
  std::uint64_t delivered;  // bytes that the sink got
};

TEST_F(HttpFaults, EachHasItsKind) {
  using enum FailureKind;
  const Case cases[] = {
      {"/ok", 0, none, success, size},
      {"/ok", 5, 10, success, 10},
      {"/ok", size, none, success, 0},
      {"/ok", size + 1, none, unavailable, 0},
      {"/trunc", 0, none, network, size / 2},
      {"/rst", 0, none, network, size / 2},
      {"/stall", 0, none, network, size / 2},
      {"/silent", 0, none, network, 0},
      {"/drop", 0, none, network, 0},
      {"/closedelim", 0, none, success, size},  // the client cannot know that it is whole: the hash decides
      {"/closedelim", 0, 10, success, 10},
      {"/2cl", 0, none, unavailable, 0},
      {"/chunked", 0, none, success, size},
      {"/chunked", 0, 10, success, 10},
      {"/chunked", 5, 10, no_ranges, 0},
      {"/chunkcut", 0, none, network, 10'000},
      {"/html", 0, none, success, 36},
      {"/gzip", 0, none, unavailable, 0},
      {"/norange", 0, none, success, size},
      {"/norange", 0, 10, success, 10},
      {"/norange", 0, size - 10, success, size - 10},
      {"/norange", 5, none, no_ranges, 0},
      {"/norange", 5, 10, no_ranges, 0},
      {"/badrange", 0, 10, no_ranges, 0},
      {"/badrange", 5, none, no_ranges, 0},
      {"/nocrange", 0, 10, no_ranges, 0},
      {"/nocrange", 5, 10, no_ranges, 0},
      {"/shortrange", 5, 10, no_ranges, 0},
      {"/shortrange", 5, 1, success, 1},
      {"/unasked", 0, none, unavailable, 0},
      {"/headers-huge", 0, none, unavailable, 0},
      {"/hints", 0, none, success, size},
      {"/loop", 0, none, unavailable, 0},
      {"/endless", 0, none, unavailable, 0},
      {"/redirect?to=/ok%3Fsize=10", 0, none, success, 10},
      {"/redirect?to=ok%3Fsize=10&code=307", 3, 4, success, 4},
      {"/redirect?to=file:///etc/passwd", 0, none, unavailable, 0},
      {"/redirect?to=/status/404", 0, none, unavailable, 0},
      {"/status/200", 0, none, success, 10},
      {"/status/204?size=0", 0, none, unavailable, 0},
      {"/status/304?size=0", 0, none, unavailable, 0},
      {"/status/400", 0, none, unavailable, 0},
      {"/status/401", 0, none, access, 0},
      {"/status/403", 0, none, access, 0},
      {"/status/404", 0, none, unavailable, 0},
      {"/status/404?size=10000000", 0, none, unavailable, 0},
      {"/status/407", 0, none, access, 0},
      {"/status/410", 0, none, unavailable, 0},
      {"/status/416", 5, none, unavailable, 0},
      {"/status/429", 0, none, network, 0},
      {"/status/500", 0, none, network, 0},
      {"/status/502", 0, none, network, 0},
      {"/status/503", 0, none, network, 0},
  };
  for (const Case& c : cases) {
    const Reading reading = get(c.target, {.offset = c.offset, .length = c.length});
    EXPECT_EQ(reading.kind(), c.kind) << c.target << ' ' << c.offset << ": " << reading.message();
    EXPECT_EQ(reading.bytes.size(), c.delivered) << c.target << ' ' << c.offset << ": " << reading.message();
    EXPECT_EQ(reading.begins, c.kind == success || c.delivered > 0 ? 1 : 0) << c.target;
    const bool is_other = c.target.starts_with("/html");
    EXPECT_TRUE(is_other || reading.bytes == seeded_bytes(1, c.offset, c.delivered)) << c.target;
  }
}

TEST_F(HttpFaults, BodiesOfErrorsAreCountedButBounded) {
  EXPECT_EQ(get("/status/404?size=1000").traffic_bytes, 1000u);
  EXPECT_LT(get("/status/500?size=100000000").traffic_bytes, 4u << 20);
  EXPECT_LT(get("/norange?size=100000000", {.length = 10}).traffic_bytes, 4u << 20);
  EXPECT_EQ(get("/redirect?to=/ok").traffic_bytes, size + 5);
  EXPECT_EQ(get("/redirect?to=/ok").requests, 2u);
}

TEST_F(HttpFaults, TrafficIsWhatTheServerSent) {
  std::uint64_t requests = 0, bytes = 0;
  for (const char* target :
       {"/ok", "/ok?size=0", "/ok?size=5000000", "/chunked", "/redirect?to=/ok", "/status/404", "/html"}) {
    const Reading reading = get(target);
    requests += reading.requests;
    bytes += reading.traffic_bytes;
  }
  EXPECT_EQ(requests, server.total().requests);
  EXPECT_EQ(bytes, server.total().body_bytes);
}

// Equal to the byte: the answer is cut off when all that the server sent lies in this machine's kernel.
TEST_F(HttpFaults, WhatACutOffAnswerHadBroughtIsCounted) {
  constexpr std::uint64_t sent = 40'000;  // fits the first window of any connection
  const std::string target = "/arrived?size=1000000&sent=" + std::to_string(sent);
  const auto all_came = [&](std::uint64_t answers) {
    while (server.count("/arrived").body_bytes < answers * sent) std::this_thread::yield();
  };
  std::stop_source source;
  const Reading stopped = get(target, {.on_write =
                                           [&] {
                                             all_came(1);
                                             source.request_stop();
                                           },
                                       .stop = source.get_token()});
  EXPECT_EQ(stopped.kind(), FailureKind::interrupted) << stopped.message();
  const Reading enough = get(target, {.length = 10, .on_write = [&] { all_came(2); }});
  EXPECT_EQ(enough.kind(), success) << enough.message();
  EXPECT_EQ(stopped.traffic_bytes, sent);
  EXPECT_EQ(enough.traffic_bytes, sent);
}

TEST_F(HttpFaults, WhatComesAfterALongBodyIsNotTheNextAnswer) {
  const std::string expected = seeded_bytes(9, 0, size);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(get("/long").bytes.size(), size / 2);
    Reading next = get("/ok?seed=9");  // the rest may arrive on the kept connection after this request was sent
    if (next.kind() == FailureKind::network) next = get("/ok?seed=9");
    EXPECT_TRUE(next.bytes == expected) << next.message();
  }
}

TEST_F(HttpFaults, ServersSayWhenToComeBack) {
  EXPECT_EQ(get("/retry-after?value=7").failure->retry_after, std::chrono::seconds(7));
  EXPECT_EQ(get("/retry-after?value=7&code=429").failure->retry_after, std::chrono::seconds(7));
  EXPECT_EQ(get("/retry-after?value=Wed,%2021%20Oct%202099%2007:28:00%20GMT").failure->retry_after,
            std::chrono::hours(1));
  EXPECT_EQ(get("/retry-after?value=never").failure->retry_after, std::chrono::seconds(0));
}

TEST_F(HttpFaults, ServersCannotWriteOnTheTerminal) {
  const Reading reading = get("/ansi");
  EXPECT_EQ(reading.kind(), FailureKind::unavailable);
  EXPECT_EQ(reading.failure->message.find('\x1b'), std::string::npos);
  EXPECT_NE(reading.failure->message.find("owned"), std::string::npos) << reading.failure->message;
}

TEST_F(HttpFaults, SignaturesStayOutOfMessages) {
  const Reading reading = get("/status/403?signature=secret");
  EXPECT_EQ(reading.message().find("secret"), std::string::npos) << reading.message();
  EXPECT_EQ(get("/ok?signature=secret").info.final_url, server.url("/ok"));
}

TEST_F(HttpFaults, VersionsAreCompared) {
  const Validators begun = get("/etag-changes").info.validators;
  EXPECT_EQ(begun.etag, "\"1\"");
  const Reading reading = get("/etag-changes", {.offset = 10, .length = 10, .expected = begun});
  EXPECT_EQ(reading.kind(), FailureKind::changed) << reading.message();
  EXPECT_EQ(reading.bytes, "");
  EXPECT_EQ(get("/ok", {.offset = 10, .length = 10, .expected = {"\"a\"", ""}}).kind(), success);
  EXPECT_EQ(get("/norange", {.offset = 10, .expected = {"\"a\"", ""}}).kind(), FailureKind::no_ranges);
  EXPECT_EQ(get("/status/412", {.offset = 10, .expected = {"\"a\"", ""}}).kind(), FailureKind::changed);
}

TEST_F(HttpFaults, AnotherServerLearnsNothing) {
  FaultServer other;
  const Reading reading =
      get("/redirect?to=" + other.url("/echo"), {.offset = 0, .length = none, .expected = {"\"a\"", ""}});
  EXPECT_EQ(reading.kind(), success) << reading.message();
  EXPECT_EQ(reading.info.final_url, other.url("/echo"));
  for (const char* secret : {"Authorization", "Cookie", "Referer", "Origin"}) {
    EXPECT_EQ(reading.bytes.find(secret), std::string::npos) << reading.bytes;
  }
  EXPECT_NE(reading.bytes.find("Accept-Encoding: identity"), std::string::npos) << reading.bytes;
  EXPECT_NE(reading.bytes.find("User-Agent: sabath-test"), std::string::npos) << reading.bytes;
}

TEST_F(HttpFaults, AStopWakesAStalledRead) {
  fetchers = make_fetchers({.user_agent = "sabath-test", .ca_file = {}});
  for (const char* target : {"/stall", "/silent", "/slow?size=1000000"}) {
    std::stop_source source;
    std::chrono::steady_clock::time_point stopped;
    std::jthread stopper([&] {
      while (server.total().requests == 0) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // into the stall; earlier would be right as well
      stopped = std::chrono::steady_clock::now();
      source.request_stop();
    });
    const Reading reading = get(target, {.stop = source.get_token()});
    stopper.join();
    EXPECT_EQ(reading.kind(), FailureKind::interrupted) << reading.message();
    EXPECT_LT(std::chrono::steady_clock::now() - stopped, std::chrono::seconds(10)) << target;
  }
}

TEST_F(HttpFaults, ASlowSinkIsNotAStalledServer) {
  bool first = true;
  const Reading reading = get("/ok?size=3000000", {.on_write = [&] {
                                if (std::exchange(first, false))
                                  std::this_thread::sleep_for(std::chrono::milliseconds(600));
                              }});
  EXPECT_EQ(reading.kind(), success) << reading.message();
}

TEST_F(HttpFaults, NobodyListens) {
  std::string url;
  {
    FaultServer gone;
    url = gone.url("/ok");
  }
  const Reading reading = read(*fetchers, url);
  EXPECT_EQ(reading.kind(), FailureKind::network) << reading.message();
  EXPECT_EQ(reading.requests, 0u);
}

TEST_F(HttpFaults, AHostThatDoesNotAnswer) {
  const ListenerThatIsFull full;
  fetchers = make_fetchers({.user_agent = "sabath-test", .ca_file = {}, .connect_timeout_ms = 200});
  const Reading reading = read(*fetchers, full.url());
  EXPECT_EQ(reading.kind(), FailureKind::network) << reading.message();
  EXPECT_EQ(reading.requests, 0u);

  fetchers = make_fetchers({.user_agent = "sabath-test", .ca_file = {}});
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // into the attempt; earlier would be right as well
    source.request_stop();
  });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(read(*fetchers, full.url(), {.stop = source.get_token()}).kind(), FailureKind::interrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST_F(HttpFaults, NoSuchHost) {
  const Reading reading = read(*fetchers, "http://no-such-host.invalid/f");
  EXPECT_EQ(reading.kind(), FailureKind::unavailable) << reading.message();
  EXPECT_NE(reading.message().find("no-such-host.invalid"), std::string::npos);
}

TEST_F(HttpFaults, AProxyIsUsedAndMayRefuse) {
  setenv("http_proxy", server.url("").c_str(), 1);
  const Reading good = read(*fetchers, "http://a.example/ok?size=10");
  const Reading refused = read(*fetchers, "http://a.example/status/407");
  const Reading inwards = read(*fetchers, "http://a.example/redirect?to=http://169.254.169.254/ok");
  unsetenv("http_proxy");
  EXPECT_TRUE(good.bytes == seeded_bytes(1, 0, 10)) << good.message();
  EXPECT_EQ(refused.kind(), FailureKind::access) << refused.message();
  EXPECT_NE(refused.message().find("proxy"), std::string::npos) << refused.message();
  EXPECT_EQ(inwards.kind(), FailureKind::unavailable);  // no redirect may make a proxy fetch it
}

}  // namespace
}  // namespace sabath::test
