// Clients that hold a place for nothing: each is put out in its time, and others are served meanwhile.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "serve/connections.h"
#include "serve/server.h"
#include "support/process.h"
#include "support/seeded.h"
#include "support/temp_dir.h"

namespace sabath::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds deadline{400}, far_beyond{10'000};
constexpr std::size_t size_bytes = 16UL << 20;  // more than all buffers of a loopback connection

class Deadlines : public testing::Test {
 protected:
  Deadlines() {
    const auto bytes = seeded_bytes(1, 0, size_bytes);
    std::vector<std::unique_ptr<ObjectWriter>> group;
    group.push_back(store->write_object());
    group.front()->write(std::as_bytes(std::span(bytes)));
    tree = group.front()->finish();
    store->publish(std::move(group));
  }

  [[nodiscard]] Fd connect(bool with_a_small_buffer = false) const {
    Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int small = 4096;
    if (with_a_small_buffer) ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  static ServeSettings settings() {
    ServeSettings settings;
    settings.deadlines = {.request = deadline, .window = deadline, .window_bytes = 64 * 1024};
    return settings;
  }

  // Until the server has ended the connection; `each` is done now and then. false: it never did.
  template <typename Each>
  static bool is_put_out(const Fd& fd, Each each) {
    const auto begin = Clock::now();
    while (Clock::now() - begin < far_beyond) {
      pollfd poll{fd.get(), POLLRDHUP, 0};
      if (::poll(&poll, 1, 50) > 0 && (poll.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) return true;
      each();
    }
    return false;
  }

  static void say(const Fd& fd, const std::string& text) { ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL); }
  [[nodiscard]] std::string question() const {
    return "GET /v1/objects/" + tree.digest.hash.hex() + "." + std::to_string(size_bytes) +
           " HTTP/1.1\r\nHost: h\r\n\r\n";
  }
  // Everything that comes, at once or by pieces with pauses between them.
  [[nodiscard]] static std::size_t drink(const Fd& fd, std::size_t sip, milliseconds pause) {
    std::string glass(sip, '\0');
    std::size_t total = 0;
    for (;;) {
      const std::size_t wanted = std::min(glass.size(), size_bytes - total);
      if (wanted == 0) return total;
      const ssize_t got = ::recv(fd.get(), glass.data(), wanted, MSG_WAITALL);
      if (got <= 0) return total;
      total += static_cast<std::size_t>(got);
      if (pause.count() > 0) ::poll(nullptr, 0, static_cast<int>(pause.count()));
    }
  }

  TempDir temp;
  std::unique_ptr<Store> store = Store::open(temp / "store", true);
  FileTree tree;
  std::atomic<int> answered{0};  // wholly or not
  std::atomic<int> silences{0};
  std::unique_ptr<Server> server = make_server(*store, settings(), [this](const AccessEntry& entry) {
    ++(entry.ending == AccessEntry::Ending::silent ? silences : answered);
  });
};

TEST_F(Deadlines, AHeadThatNeverEnds) {
  const Fd fd = connect();
  say(fd, "GET /v1/ HTTP/1.1\r\nX: ");
  EXPECT_TRUE(is_put_out(fd, [&] { say(fd, "y"); }));
  EXPECT_TRUE(wait_until([&] { return silences + answered > 0; })) << "it has a line";
}

TEST_F(Deadlines, SilenceBeforeARequestAndAfterOne) {
  const Fd silent = connect(), kept = connect();
  say(kept, "GET /v1/ HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(is_put_out(silent, [] {}));
  EXPECT_TRUE(is_put_out(kept, [] {}));
  EXPECT_TRUE(wait_until([&] { return silences > 0; }));
  server.reset();
  EXPECT_EQ(silences, 1) << "a connection that had its answers ends without a line";
}

TEST_F(Deadlines, ABodyThatIsTakenByteByByte) {
  const Fd fd = connect(true);
  say(fd, question());
  // Its end cannot arrive behind bytes that the client does not take: the server has ended it when it logs the answer.
  EXPECT_TRUE(wait_until([&] {
    char byte = 0;
    static_cast<void>(::recv(fd.get(), &byte, 1, MSG_DONTWAIT));
    return answered > 0;
  }));
}

TEST_F(Deadlines, WhoIsSlowButTakesEnoughIsServed) {
  const Fd fd = connect();
  say(fd, question());
  EXPECT_EQ(drink(fd, size_bytes / 32, deadline / 8), size_bytes);  // four deadlines long
}

TEST_F(Deadlines, OthersAreServedMeanwhile) {
  const Fd slow = connect(true), silent = connect();
  say(slow, question());
  const Fd good = connect();
  say(good, question());
  EXPECT_EQ(drink(good, 1 << 20, milliseconds{0}), size_bytes);
}

// A client who asks again and again for what he may not have is no newcomer each time.
TEST(Places, AreNotHeldByRefusals) {
  Connections connections({.all = 2, .of_address = 2}, {.window = milliseconds{2000}}, false);
  std::vector<Fd> strangers;
  for (const char* client : {"192.0.2.1:1", "192.0.2.2:1"}) {
    strangers.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    connections.opened(strangers.back().get(), client);
  }
  std::atomic<bool> done = false;
  std::jthread asking([&] {
    for (; !done; ::poll(nullptr, 0, 5)) {
      for (const Fd& each : strangers) {
        connections.working(each.get());
        connections.answering(each.get());
        connections.waiting(each.get());
      }
    }
  });
  EXPECT_TRUE(connections.make_place("192.0.2.3:1"));
  done = true;
}

}  // namespace
}  // namespace sabath::test
