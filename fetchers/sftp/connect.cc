#include "sftp/connect.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/threads.h"
#include "sabath/error.h"
#include "sftp/ssh_program.h"

namespace sabath {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

// A look-up that outlives its asker: getaddrinfo(3) cannot be interrupted, and no lane may wait for it after a stop.
struct Lookup {
  std::string name, service;
  Fd done{::eventfd(0, EFD_CLOEXEC)};
  int status = 0;
  Addresses addresses;
};

Addresses look_up(const SshHost& host, const Waiter& waiter) {
  const auto lookup = std::make_shared<Lookup>();
  lookup->name = host.name;
  lookup->service = std::to_string(host.port);
  if (!lookup->done) throw_errno("make an eventfd", "", errno);
  start_thread([lookup] {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    addrinfo* list = nullptr;
    lookup->status = ::getaddrinfo(lookup->name.c_str(), lookup->service.c_str(), &hints, &list);
    if (lookup->status == 0) lookup->addresses.reset(list);
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(lookup->done.get(), &one, sizeof one);
  }).detach();
  waiter.wait(lookup->done.get(), POLLIN);
  std::uint64_t one = 0;
  if (::read(lookup->done.get(), &one, sizeof one) != sizeof one) throw_errno("read an eventfd", "", errno);
  if (lookup->status == 0) return std::move(lookup->addresses);
  const bool passes = lookup->status == EAI_AGAIN;
  throw Error(passes ? FailureKind::network : FailureKind::unavailable,
              fmt::format("{}: no address for {}: {}", waiter.what(), host.name, ::gai_strerror(lookup->status)),
              "check the host name and this machine's name service");
}

// 0 or the errno of the attempt.
int try_connect(const Fd& fd, const addrinfo& address, const Waiter& waiter) {
  if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  waiter.wait(fd.get(), POLLOUT);
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

std::string host_text(const addrinfo& address) {
  std::array<char, NI_MAXHOST> text{};
  const int status =
      ::getnameinfo(address.ai_addr, address.ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return status == 0 ? text.data() : "";
}

Fd connect_tcp(const SshHost& host, const AddressJudge& judge, const Waiter& waiter) {
  const Addresses addresses = look_up(host, waiter);
  int error = 0;
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    judge(host_text(*address));
    Fd fd(::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) {
      error = errno;
      continue;
    }
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    error = try_connect(fd, *address, waiter);
    if (error == 0) return fd;
  }
  throw Error(
      FailureKind::network,
      fmt::format("{}: cannot connect to {} port {}: {}", waiter.what(), host.name, host.port, std::strerror(error)),
      "check the host and the port; behind a gateway, name it by ProxyJump in the ssh configuration");
}

Child jump(const SshHost& host, const SshSettings& settings) {
  const std::size_t comma = host.proxy_jump.rfind(',');
  std::string last = host.proxy_jump.substr(comma == std::string::npos ? 0 : comma + 1);
  std::vector<std::string> argv = ssh_command(settings);
  if (comma != std::string::npos) argv.insert(argv.end(), {"-J", host.proxy_jump.substr(0, comma)});
  if (!last.starts_with("ssh://")) last.insert(0, "ssh://");  // the form that may name a port
  const bool v6 = host.name.find(':') != std::string::npos;
  argv.insert(argv.end(),
              {"-W", fmt::format("{}{}{}:{}", v6 ? "[" : "", host.name, v6 ? "]" : "", host.port), "--", last});
  return Child(argv);
}

}  // namespace

Connection connect_to(const SshHost& host, const SshSettings& settings, const AddressJudge& judge,
                      const Waiter& waiter) {
  if (host.proxy_command) {
    throw Error(FailureKind::unavailable,
                fmt::format("{}: the ssh configuration wants a ProxyCommand, which libssh2 does not do", waiter.what()),
                "let the ssh program do it (`ssh_transport` of the configuration), or name the gateway by ProxyJump");
  }
  if (host.proxy_jump.empty()) return {connect_tcp(host, judge, waiter), std::nullopt};
  Connection connection{Fd(), jump(host, settings)};
  const int flags = ::fcntl(connection.fd(), F_GETFL);
  if (::fcntl(connection.fd(), F_SETFL, flags | O_NONBLOCK) != 0) throw_errno("set up a socket", "", errno);
  return connection;
}

}  // namespace sabath
