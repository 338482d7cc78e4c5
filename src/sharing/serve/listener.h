// A TCP socket that listens, and whether TLS can be spoken on it. Throws Error{unavailable}.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "base/file.h"

namespace sabath {

[[nodiscard]] Fd listen_at(const std::string& host, std::uint16_t port);
[[nodiscard]] std::uint16_t port_of(const Fd& socket);
[[nodiscard]] std::string text_of(const sockaddr* address, socklen_t size);  // "127.0.0.1:4242", "[::1]:4242"
[[nodiscard]] std::string peer_of(int socket);                               // the same; "-" if it has no peer
void require_tls();  // throws if the HTTP library of this build has none

}  // namespace sabath
