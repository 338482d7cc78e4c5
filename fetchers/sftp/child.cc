#include "sftp/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/spawn.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t complaint_size_max = 16 * 1024;

pid_t start(const std::vector<std::string>& argv, int socket, int errors) {
  const auto [pid, error] =
      spawn({.program = argv[0], .argv = argv, .in = socket, .out = socket, .err = errors, .leads_session = true});
  if (error != 0) {
    throw Error(FailureKind::unavailable, fmt::format("cannot start `{}`: {}", argv[0], std::strerror(error)),
                "install the OpenSSH client, or add it to PATH");
  }
  return pid;
}

}  // namespace

Child::Child(const std::vector<std::string>& argv) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_errno("make a socket pair", "", errno);
  socket_ = Fd(ends[0]);
  const Fd theirs(ends[1]);
  const int room = 4 * 1024 * 1024;  // fewer wake-ups of both; the kernel gives what it allows
  ::setsockopt(theirs.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  errors_ = Fd(::memfd_create("errors", MFD_CLOEXEC));
  if (!errors_) throw_errno("make a file in memory", "", errno);
  pid_ = start(argv, theirs.get(), errors_.get());
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), socket_(std::move(other.socket_)), errors_(std::move(other.errors_)) {}

Child::~Child() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);  // the session that it leads; it holds nothing that could be lost
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
}

std::vector<std::string> Child::complaints() const {
  std::string text(complaint_size_max, '\0');
  const ssize_t got = ::pread(errors_.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) {
    if (const auto words = trim(line); !words.empty()) lines.push_back(printable(words));
  }
  return lines;
}

std::string Child::complaint() const {
  const auto lines = complaints();
  return lines.empty() ? "" : lines.back();
}

}  // namespace sabath
