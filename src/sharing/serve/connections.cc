#include "serve/connections.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/threads.h"

namespace sabath {
namespace {

constexpr std::chrono::milliseconds grace{500};            // of a new client, to send its request
constexpr std::uint64_t fin = 1, tls_alert_size_max = 64;  // the kernel counts a FIN as a byte

tcp_info info_of(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info : tcp_info{};
}
std::uint64_t bytes_acked(int socket) { return info_of(socket).tcpi_bytes_acked; }

// "192.0.2.1" of "192.0.2.1:4242"; of "[2001:db8::1]:4242" the network that one client has, as bytes.
std::string address_of(std::string_view client) {
  const std::string address(client.substr(0, client.rfind(':')));
  constexpr std::size_t network_bytes = 8;
  in6_addr v6{};
  const bool is_v6 = address.starts_with('[') && address.ends_with(']') &&
                     ::inet_pton(AF_INET6, address.substr(1, address.size() - 2).c_str(), &v6) == 1;
  if (!is_v6 || IN6_IS_ADDR_V4MAPPED(&v6) != 0) return address;
  return {reinterpret_cast<const char*>(&v6), network_bytes};
}

}  // namespace

Connections::Connections(const ConnectionPlaces& places, const ConnectionDeadlines& deadlines, bool tls)
    : places_(places),
      deadlines_(deadlines),
      farewell_(tls ? tls_alert_size_max : fin),
      sweeper_(start_thread([this](std::stop_token stop) { sweep(stop); })) {}

void Connections::opened(int socket, std::string client) {
  const std::lock_guard lock(mutex_);
  std::string address = address_of(client);
  const auto now = Clock::now();
  connections_[socket] = {.opened = now, .since = now, .client = std::move(client), .address = std::move(address)};
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

bool Connections::make_place(std::string_view client) {
  const std::string address = address_of(client);
  const Among all = [](const Connection&) { return true; };
  const Among here = [&](const Connection& each) { return each.address == address; };
  std::unique_lock lock(mutex_);
  if (count(here) >= places_.of_address && !put_out(here, {})) return false;
  const auto patience = Clock::now() + deadlines_.window;
  while (open_ && count(all) >= places_.all) {
    if (put_out(all, grace)) continue;
    if (Clock::now() >= patience) return false;
    changed_.wait_for(lock, grace / 10);
  }
  return open_;
}

void Connections::close() {
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  changed_.notify_all();
}

unsigned Connections::count(const Among& among) const {
  return static_cast<unsigned>(
      std::ranges::count_if(connections_, [&](const auto& each) { return !each.second.late && among(each.second); }));
}

// The library notices the shutdown as it would notice a client that left.
bool Connections::put_out(const Among& among, std::chrono::milliseconds age_min) {
  const auto now = Clock::now();
  bool young = false;
  std::map<std::string_view, unsigned> strangers;  // by address
  for (const auto& [socket, each] : connections_)
    if (!each.known && !each.late && each.phase == Phase::waiting) ++strangers[each.address];
  const auto goes_before = [&](const Connection& a, const Connection& b) {
    if (a.known != b.known) return b.known;
    const unsigned of_a = a.known ? 0 : strangers[a.address], of_b = b.known ? 0 : strangers[b.address];
    return of_a != of_b ? of_a > of_b : a.idle_since() < b.idle_since();
  };
  auto first = connections_.end();
  for (auto each = connections_.begin(); each != connections_.end(); ++each) {
    const Connection& connection = each->second;
    if (connection.late || connection.phase != Phase::waiting || !among(connection)) continue;
    if (!connection.known && now - connection.idle_since() < age_min) {
      young = true;
      continue;
    }
    if (first == connections_.end() || goes_before(connection, first->second)) first = each;
  }
  if (first == connections_.end() || (first->second.known && young)) return false;
  first->second.late = true;
  ::shutdown(first->first, SHUT_RDWR);
  return true;
}

void Connections::known(int socket) {
  const std::lock_guard lock(mutex_);
  if (const auto found = connections_.find(socket); found != connections_.end()) found->second.known = true;
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
