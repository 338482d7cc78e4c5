#include "support/relay.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "support/process.h"

namespace sabath::test {
namespace {

int connect_to(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback_address(port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

bool send_all(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

void reset_on_close(int fd) {
  const linger now{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

}  // namespace

struct Relay::State {
  std::uint16_t server_port = 0;
  std::uint64_t rate = 0;
  int listener = -1;
  std::uint16_t port = 0;
  std::atomic<unsigned> accepted = 0;
  std::atomic<std::uint64_t> reset_after = 0;
  std::atomic<bool> ending = false;
  std::mutex mutex;
  struct Pair {
    int client, server;
    std::thread thread;
  };
  std::list<Pair> pairs;
  std::thread acceptor;

  void accept_all() {
    for (;;) {
      const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) return;
      ++accepted;
      const std::lock_guard lock(mutex);
      if (ending) {
        close(client);
        return;
      }
      const int server = connect_to(server_port);
      Pair& pair = pairs.emplace_back(Pair{client, server, {}});
      pair.thread = std::thread([this, client, server] { serve(client, server); });
    }
  }

  void serve(int client, int server) {
    if (server >= 0) {
      std::thread up([&] {
        copy(client, server, 0, false);
        shutdown(server, SHUT_WR);
      });
      copy(server, client, rate, true);
      shutdown(server, SHUT_RDWR);
      shutdown(client, SHUT_RDWR);
      up.join();
    }
    shutdown(client, SHUT_RDWR);  // both are closed when the relay ends: until then no other file gets their numbers
  }

  void copy(int from, int to, std::uint64_t limit, bool may_reset) {
    std::array<char, 16 * 1024> buffer;
    std::uint64_t total = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
      const ssize_t got = recv(from, buffer.data(), buffer.size(), 0);
      if (got <= 0) return;
      total += static_cast<std::uint64_t>(got);
      if (may_reset && reset_after > 0 && total > reset_after) {
        abort_connection(to);
        return;
      }
      if (limit > 0) {
        std::this_thread::sleep_until(begin + std::chrono::nanoseconds(total * 1'000'000'000 / limit));
      }
      if (!send_all(to, buffer.data(), static_cast<std::size_t>(got))) return;
    }
  }

  // RST rather than FIN: connect to nowhere ends an established connection at once (tcp(7): AF_UNSPEC dissolves it).
  static void abort_connection(int fd) {
    reset_on_close(fd);
    sockaddr nowhere{};
    nowhere.sa_family = AF_UNSPEC;
    // Not by connect(): ThreadSanitizer takes that for the making of a descriptor that another thread reads already.
    static_cast<void>(syscall(SYS_connect, fd, &nowhere, sizeof nowhere));
  }
};

Relay::Relay(std::uint16_t server_port, std::uint64_t rate) : state_(std::make_unique<State>()) {
  state_->server_port = server_port;
  state_->rate = rate;
  state_->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback_address(0);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(state_->listener, generic, size) != 0 || listen(state_->listener, 64) != 0 ||
      getsockname(state_->listener, generic, &size) != 0) {
    throw std::runtime_error("the relay cannot listen");
  }
  state_->port = ntohs(address.sin_port);
  state_->acceptor = std::thread([state = state_.get()] { state->accept_all(); });
}

Relay::~Relay() {
  state_->ending = true;
  shutdown(state_->listener, SHUT_RDWR);
  state_->acceptor.join();
  close(state_->listener);
  cut();
  for (auto& pair : state_->pairs) {
    pair.thread.join();
    close(pair.client);
    if (pair.server >= 0) close(pair.server);
  }
}

std::uint16_t Relay::port() const noexcept { return state_->port; }
unsigned Relay::accepted() const noexcept { return state_->accepted; }
void Relay::reset_after(std::uint64_t bytes) { state_->reset_after = bytes; }

void Relay::cut() {
  const std::lock_guard lock(state_->mutex);
  for (const auto& pair : state_->pairs) {
    State::abort_connection(pair.client);
    if (pair.server >= 0) shutdown(pair.server, SHUT_RDWR);
  }
}

}  // namespace sabath::test
