// A store as a source for others: an HTTP/1.1 server, read-only, that gives content to clients that can name it.
// docs/serving.md. It uses libmicrohttpd; no other folder includes that.
//
// One thread for each connection, their number bounded, so that a look-up that hashes first delays no other client. All
// input of a client is bounded: 16 KiB of head, no body, deadlines (connections.h). All functions may be called from
// any thread. Throws Error{usage} for settings that make no sense, Error{unavailable} if it cannot listen.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sabath/secret.h"
#include "serve/access_log.h"
#include "serve/connections.h"
#include "store/store.h"

namespace sabath {

struct ServeSettings {
  std::string host = "127.0.0.1";  // name or address to listen at; IPv6 without brackets
  std::uint16_t port = 0;          // 0: any free one
  Secret token;                    // empty: all clients may read
  std::string certificate;         // PEM; empty: plain HTTP
  Secret key;                      // PEM
  ConnectionPlaces places{};
  std::uint64_t rate_max = 0;  // bytes a second of one connection; 0: none
  ConnectionDeadlines deadlines{};
  bool hub = false;                // it answers as a hub, too: hub_source.h
  std::vector<std::string> allow;  // repositories that it serves however they came
};

class Server {
 public:
  using OnAccess = std::function<void(const AccessEntry&)>;  // called by one thread at a time

  Server() = default;
  virtual ~Server() = default;  // answers on their way are cut off
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] virtual std::uint16_t port() const noexcept = 0;
  // From now on with this token, and for new connections with this certificate and key; what the server began without
  // stays without. Throws Error{usage} for a certificate and a key that do not fit: nothing has changed then.
  virtual void renew(const Secret& token, const std::string& certificate, const Secret& key) = 0;
  // No new connections from now on; answers on their way may end within `limit`. False if some had not.
  virtual bool drain(std::chrono::milliseconds limit) = 0;
  [[nodiscard]] virtual std::size_t hub_repositories() = 0;  // that it serves as a hub now
};

[[nodiscard]] std::unique_ptr<Server> make_server(Store& store, const ServeSettings& settings,
                                                  Server::OnAccess on_access);

}  // namespace sabath
