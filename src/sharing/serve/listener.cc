#include "serve/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <microhttpd.h>
#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <memory>

#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr int backlog = 128;

}  // namespace

std::string text_of(const sockaddr* address, socklen_t size) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV)) {
    return "-";
  }
  const bool v6 = address->sa_family == AF_INET6;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", host.data(), v6 ? "]" : "", port.data());
}

Fd listen_at(const std::string& host, std::uint16_t port) {
  const std::string place = fmt::format("{}:{}", printable(host), port);
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  if (const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0) {
    throw Error(FailureKind::unavailable, fmt::format("cannot listen at {}: {}", place, ::gai_strerror(error)),
                "name an address of this machine: `ip addr` lists them");
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  int error = EADDRNOTAVAIL;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    Fd socket(::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, each->ai_protocol));
    const int yes = 1;
    if (socket && ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        ::bind(socket.get(), each->ai_addr, each->ai_addrlen) == 0 && ::listen(socket.get(), backlog) == 0) {
      return socket;
    }
    error = errno;
  }
  throw Error(
      FailureKind::unavailable, fmt::format("cannot listen at {}: {}", place, std::strerror(error)),
      fmt::format("{} with {} HOST:PORT",
                  error == EADDRINUSE ? "another program has this port: choose one" : "choose another address or port",
                  option_text("listen")));
}

std::uint16_t port_of(const Fd& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw_errno("ask the port of", "a socket", errno);
  }
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

std::string peer_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "-";
  return text_of(reinterpret_cast<const sockaddr*>(&address), size);
}

void require_tls() {
  if (MHD_is_feature_supported(MHD_FEATURE_TLS) == MHD_YES) return;
  throw Error(FailureKind::unavailable, "this build of SABATH serves no TLS: its libmicrohttpd has none",
              "put a proxy that speaks TLS before it, or serve by a build with the distribution's libmicrohttpd");
}

}  // namespace sabath
