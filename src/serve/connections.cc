#include "serve/connections.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/threads.h"

namespace sabath {
namespace {

constexpr std::uint64_t fin = 1, tls_alert_size_max = 64;  // the kernel counts a FIN as a byte

tcp_info info_of(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info : tcp_info{};
}
std::uint64_t bytes_acked(int socket) { return info_of(socket).tcpi_bytes_acked; }

std::string_view address_of(std::string_view client) { return client.substr(0, client.rfind(':')); }

}  // namespace

Connections::Connections(const ConnectionDeadlines& deadlines, bool tls)
    : deadlines_(deadlines),
      farewell_(tls ? tls_alert_size_max : fin),
      sweeper_(start_thread([this](std::stop_token stop) { sweep(stop); })) {}

void Connections::opened(int socket, std::string client) {
  const std::lock_guard lock(mutex_);
  connections_[socket] = {.since = Clock::now(), .client = std::move(client)};
}

Connections::Closed Connections::closed(int socket) {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(socket);
  if (found == connections_.end()) return {};
  Connection& connection = found->second;
  Closed closed{.client = std::move(connection.client), .waited = Clock::now() - connection.since};
  const bool first = connection.received == 0;
  const bool more = info_of(socket).tcpi_bytes_received > connection.received + (first ? fin : farewell_);
  if (connection.phase == Phase::waiting && (more || (first && connection.late)))
    closed.rest = connection.late ? Rest::silent : Rest::broken;
  connections_.erase(found);
  changed_.notify_all();
  return closed;
}

unsigned Connections::of_address(std::string_view client) const {
  const std::lock_guard lock(mutex_);
  return static_cast<unsigned>(std::ranges::count_if(
      connections_, [&](const auto& entry) { return address_of(entry.second.client) == address_of(client); }));
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
  if (phase == Phase::working) connection.received = info_of(socket).tcpi_bytes_received;
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
      if (!is_late(socket, connection)) continue;
      connection.late = true;
      ::shutdown(socket, SHUT_RDWR);
    }
    changed_.wait_for(lock, stop, pause, [] { return false; });
  }
}

}  // namespace sabath
