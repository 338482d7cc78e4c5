#include "support/fault_server.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "support/fault_connection.h"

namespace sabath::test {

struct FaultServer::State {
  struct Seen {
    FaultCount count;
    std::vector<std::string> heads;
  };
  int listener = -1;
  std::uint16_t port = 0;
  mutable std::mutex mutex;
  bool stopping = false;
  std::set<int> connections;  // open ones, to be shut down at the end
  std::map<std::string, Seen> seen;
  std::vector<std::jthread> threads;  // touched by the accepting thread only, until that has ended
  std::jthread acceptor;

  void accept_all();
  void serve(int fd);
  bool enter(int fd);
  void leave(int fd);
  void note(FaultRequest& request);
};

void FaultServer::State::accept_all() {
  for (;;) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;  // the listener was shut down
    if (enter(fd)) threads.emplace_back([this, fd] { serve(fd); });
  }
}

bool FaultServer::State::enter(int fd) {
  const std::lock_guard lock(mutex);
  if (stopping) {
    ::close(fd);
    return false;
  }
  connections.insert(fd);
  return true;
}

void FaultServer::State::leave(int fd) {
  const std::lock_guard lock(mutex);  // closed under the lock: the number must not be another's when it is shut down
  connections.erase(fd);
  ::close(fd);
}

void FaultServer::State::note(FaultRequest& request) {
  const std::lock_guard lock(mutex);
  Seen& entry = seen[request.path];
  request.number = ++entry.count.requests;
  entry.heads.push_back(request.head);
}

void FaultServer::State::serve(int fd) {
  FaultConnection connection(fd, [this](const std::string& path, std::uint64_t bytes) {
    const std::lock_guard lock(mutex);
    seen[path].count.body_bytes += bytes;
  });
  while (connection.open()) {
    auto request = connection.read_request();
    if (!request) break;
    note(*request);
    answer(connection, *request);
  }
  leave(fd);
}

FaultServer::FaultServer(std::uint16_t port) : state_(std::make_unique<State>()) {
  state_->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const int yes = 1;
  setsockopt(state_->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(state_->listener, generic, size) != 0 || listen(state_->listener, 128) != 0 ||
      getsockname(state_->listener, generic, &size) != 0) {
    ::close(state_->listener);
    throw std::runtime_error(fmt::format("cannot listen on port {}", port));
  }
  state_->port = ntohs(address.sin_port);
  state_->acceptor = std::jthread([state = state_.get()] { state->accept_all(); });
}

FaultServer::~FaultServer() {
  shutdown(state_->listener, SHUT_RDWR);
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    for (const int fd : state_->connections) shutdown(fd, SHUT_RDWR);
  }
  state_->acceptor.join();
  state_->threads.clear();  // joins
  ::close(state_->listener);
}

std::uint16_t FaultServer::port() const noexcept { return state_->port; }

std::string FaultServer::url(std::string_view target) const {
  return fmt::format("http://127.0.0.1:{}{}", port(), target);
}

FaultCount FaultServer::count(const std::string& path) const {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->seen.find(path);
  return found == state_->seen.end() ? FaultCount{} : found->second.count;
}

FaultCount FaultServer::total() const {
  const std::lock_guard lock(state_->mutex);
  FaultCount sum;
  for (const auto& [path, entry] : state_->seen) {
    sum.requests += entry.count.requests;
    sum.body_bytes += entry.count.body_bytes;
  }
  return sum;
}

std::vector<std::string> FaultServer::heads(const std::string& path) const {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->seen.find(path);
  return found == state_->seen.end() ? std::vector<std::string>{} : found->second.heads;
}

}  // namespace sabath::test
