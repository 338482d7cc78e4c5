// The road to an SSH server: a TCP connection, or the ssh program's connection by a ProxyJump. Any thread. Throws
// Error{network} if no host answers, Error{unavailable} for a name that does not exist, Error{interrupted}.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "sftp/child.h"
#include "sftp/ssh_config.h"
#include "sftp/waiter.h"

namespace sabath {

struct Connection {
  Fd socket;                   // of TCP
  std::optional<Child> child;  // or of the program that forwards
  [[nodiscard]] int fd() const noexcept { return child ? child->fd() : socket.get(); }
};

// Asked before each connection of our own, with the address; it throws where that must not be.
using AddressJudge = std::function<void(std::string_view address)>;

[[nodiscard]] Connection connect_to(const SshHost& host, const SshSettings& settings, const AddressJudge& judge,
                                    const Waiter& waiter);

}  // namespace sabath
