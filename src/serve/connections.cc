#include "serve/connections.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/threads.h"

namespace sabath {
namespace {

std::uint64_t bytes_acked(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_bytes_acked : 0;
}

}  // namespace

Connections::Connections(const ConnectionDeadlines& deadlines)
    : deadlines_(deadlines), sweeper_(start_thread([this](std::stop_token stop) { sweep(stop); })) {}

void Connections::opened(int socket) {
  const std::lock_guard lock(mutex_);
  connections_[socket] = {Phase::waiting, Clock::now()};
}

void Connections::closed(int socket) {
  const std::lock_guard lock(mutex_);
  connections_.erase(socket);
  changed_.notify_all();
}

void Connections::working(int socket) { enter(socket, Phase::working); }
void Connections::answering(int socket) { enter(socket, Phase::answering); }
void Connections::waiting(int socket) { enter(socket, Phase::waiting); }

void Connections::enter(int socket, Phase phase) {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(socket);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  connection.phase = phase;
  connection.since = Clock::now();
  if (phase == Phase::answering) connection.acked_before = connection.acked_window = bytes_acked(socket);
  changed_.notify_all();
}

std::uint64_t Connections::acknowledged(int socket) const {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(socket);
  if (found == connections_.end()) return 0;
  const std::uint64_t acked = bytes_acked(socket);
  return acked - std::min(acked, found->second.acked_before);
}

bool Connections::wait_until_idle(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] {
    return std::all_of(connections_.begin(), connections_.end(),
                       [](const auto& entry) { return entry.second.phase == Phase::waiting; });
  });
}

bool Connections::is_late(int socket, Connection& connection) const {
  const auto now = Clock::now();
  if (connection.phase == Phase::waiting) return now - connection.since > deadlines_.request;
  if (connection.phase == Phase::working || now - connection.since <= deadlines_.window) return false;
  const std::uint64_t acked = bytes_acked(socket);
  const bool slow = acked - connection.acked_window < deadlines_.window_bytes;
  connection.since = now;
  connection.acked_window = acked;
  return slow;
}

// The library notices the shutdown as it would notice a client that left.
void Connections::sweep(std::stop_token stop) {
  const auto pause =
      std::min<std::chrono::milliseconds>({std::chrono::seconds(1), deadlines_.request / 4, deadlines_.window / 4});
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    for (auto& [socket, connection] : connections_) {
      if (is_late(socket, connection)) ::shutdown(socket, SHUT_RDWR);
    }
    changed_.wait_for(lock, stop, pause, [] { return false; });
  }
}

}  // namespace sabath
