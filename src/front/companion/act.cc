#include "companion/act.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "base/companion.h"
#include "base/wording.h"
#include "companion/guardian.h"
#include "companion/hdf5.h"
#include "sabath/error.h"

namespace sabath::companion {
namespace {

constexpr int channel = STDIN_FILENO;
using Role = int (*)(int channel, std::string_view request);

Role role_named(std::string_view name) {
  if (name == "guardian") return stand_guard;
  if (name == "hdf5") return read_hdf5;
  return nullptr;
}

bool is_spoken_to() {
  int type = 0;
  socklen_t length = sizeof type;
  return ::getsockopt(channel, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

int act(Role role) {
  ::syscall(SYS_close_range, STDERR_FILENO + 1U, ~0U, 0);  // files that the host did not close on exec
  // The library handles the first three; with SIGXFSZ ignored, a write beyond the size limit fails with an error.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGXFSZ}) ::signal(number, SIG_IGN);
  if (::send(channel, companion_greeting.data(), companion_greeting.size(), MSG_NOSIGNAL) < 0) return 1;
  const auto request = receive_message(channel, request_bytes_max);
  return request ? role(channel, *request) : 1;
}

}  // namespace

std::optional<int> try_act(std::span<char* const> arguments) noexcept {
  if (arguments.size() < 2 || std::string_view(arguments[1]) != "--as") return std::nullopt;
  const Role role = arguments.size() == 4 ? role_named(arguments[2]) : nullptr;
  if (role == nullptr || !is_spoken_to()) {
    std::fputs("error: `sabath --as` is how libsabath starts this program, and nothing for people\n", stderr);
    return exit_code(FailureKind::usage);
  }
  if (arguments[3] == wording_of_hosts.name) use_wording(wording_of_hosts);  // the program's own is in use
  try {
    return act(role);
  } catch (const std::exception& error) {  // the library learns it from the end of the channel
    std::fputs(fmt::format("sabath --as {}: {}\n", arguments[2], error.what()).c_str(), stderr);
    return exit_code(FailureKind::internal);
  }
}

}  // namespace sabath::companion
